// katex.js: formulas to HTML with MathML beside, all of a chapter in one process.
//
//   node katex.js FOLDER     reads lines "HASH D|I FORMULA", line ends in a formula as \n, writes
//                            FOLDER/HASH.html; what can't be read: "HASH message" on stdout
//
// The only formula signs beyond KaTeX's own are these.
const macros = {
  "\\T": "\\top",
  "\\R": "\\mathbb{R}",
  "\\den": "\\operatorname{den}",
  "\\elu": "\\operatorname{elu}",
  "\\diag": "\\operatorname{diag}",
  "\\softmax": "\\operatorname{softmax}",
  "\\simil": "\\operatorname{sim}",
};

const fs = require("fs");
const katex = require(process.env.KATEX + "/katex.js");
const folder = process.argv[2];

for (const line of fs.readFileSync(0, "utf8").split("\n")) {
  const [, hash, mode, escaped] = line.match(/^(\S+) ([DI]) (.*)$/) || [];
  if (!hash) continue;
  const formula = escaped.replace(/\\\\|\\n/g, (m) => (m === "\\n" ? "\n" : "\\"));
  try {
    const options = {
      displayMode: mode === "D",
      output: "htmlAndMathml",
      strict: (code) => (code === "unicodeTextInMathMode" ? "ignore" : "error"),
      macros: { ...macros },
    };
    const text = katex.renderToString(formula, options);
    fs.writeFileSync(`${folder}/${hash}.${process.pid}.tmp`, text);
    fs.renameSync(`${folder}/${hash}.${process.pid}.tmp`, `${folder}/${hash}.html`);
  } catch (problem) {
    // U+0332 underlines the place, which a terminal may not show.
    const message = problem.message.replace(/\u0332/g, "").split("\n")[0];
    console.log(`${hash} ${message.replace("KaTeX parse error: ", "")}`);
  }
}
