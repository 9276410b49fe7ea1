-- words-en.lua: what the filter and the pages say in English. A book in another language is a
-- folder beside doc/en and a table like this one.

return {
  book = "tarn",
  subtitle = "Transformers are RNNs, one small C file at a time",

  -- On the first sheet of the PDF.
  cover = "Its listings are regions of the sources that are compiled, and its transcripts are " ..
    "run again by the tests. Text: CC BY 4.0. Code: MIT.",

  -- The order of what follows the numbered chapters; other files come after these.
  back_matter = {"tensors", "in-c", "glossary", "popular-summaries", "instructor",
     "reference", "bibliography", "register"},

  -- References: what stands before the number.
  chapter = "chapter", equation = "equation", figure = "figure", exercise = "exercise",
  Chapter = "Chapter", Figure = "Figure", -- at the head of one

  -- Above a listing.
  lines = "lines", line = "line", inside = "in", whole = "function", test = "test",

  boxes = {
    question = "Before reading on", answer = "Answer", hand = "By hand", cost = "What it costs",
    pitfall = "What goes wrong", claim = "The claim", note = "Note",
  },
  minutes = "minutes", points = "points",
  exercise_table = {"chapter", "exercise", "name", "language", "minutes", "points"},
  languages = {c = "C", lua = "Lua", cuda = "CUDA"},

  -- Around a page.
  skip = "Skip to the text", contents = "Contents", front = "The book",
  ways = "Previous and next page", previous = "Previous", next = "Next",
}
