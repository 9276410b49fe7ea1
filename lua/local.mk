## lua/: the program's own Lua, embedded by tools/embed in this order.
lua_sources = lua/report.lua lua/bench.lua lua/tour.lua \
	lua/names.lua lua/tensors.lua lua/show.lua lua/help.lua lua/env.lua
