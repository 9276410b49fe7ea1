-- setting.lua: what the command line says about this run of the filter.
--
--   setting.mode, .root, .build, .site, .lang   from -M
--   setting.draft    problems are told and do not stop the build
--   setting.folder   where the filter lies (doc/)
--   setting.words    words-LANG.lua: all that the filter itself says to readers

local setting = {}

local function value(meta, key, default)
  return meta[key] and pandoc.utils.stringify(meta[key]) or default
end

function setting.read(meta, folder)
  setting.folder = folder
  setting.mode = value(meta, "mode", "page")
  setting.root = value(meta, "root", ".")
  setting.build = value(meta, "build", ".")
  setting.site = value(meta, "site", ".")
  setting.lang = value(meta, "lang", "en")
  setting.draft = value(meta, "draft", "no") == "yes"
  setting.words = require("words-" .. setting.lang)
end

return setting
