-- weave.lua: the book's filter for pandoc. A chapter of doc/en comes in, a page goes out.
--
--   pandoc --lua-filter doc/weave.lua -M mode=facts ..   what a chapter has: labels, terms,
--                                                        names, regions; for the others
--   pandoc --lua-filter doc/weave.lua -M mode=book ..    the facts of all chapters in one table,
--                                                        and what only a whole book can do wrong
--   pandoc --lua-filter doc/weave.lua -M mode=page ..    a chapter as a page of the site
--   pandoc --lua-filter doc/weave.lua -M mode=paper ..   all pages as one, for print
--
-- Other metadata: root= the folder of the sources, build= where facts and formulas are kept,
-- lang= the language. Parts are in doc/weave, one a kind of mark-up; doc/house.md tells what an
-- author writes. Whatever is wrong is said as file:line: message, all of it, and stops the build.

local folder = PANDOC_SCRIPT_FILE:match("^(.*)/[^/]*$") or "."
package.path = folder .. "/weave/?.lua;" .. package.path

local setting = require "setting"

function Pandoc(doc)
  setting.read(doc.meta, folder)
  return require("mode_" .. setting.mode)(doc)
end
