## lua/: the program's own Lua, embedded by tools/embed in this order.
lua_sources =
