/* lua_bench.c: what measurements need: require "tarn.machine", for tarn's own Lua.
 *
 * The operations that are timed, and how, are those of tarn-bench (src/bench). */
#include "bench/operations.h"
#include "check/report.h"
#include "core/tensor.h"
#include "repl/bind.h"
#include <math.h>

/* clock() -> seconds of a clock that only goes forward. */
static int clock_seconds(lua_State *L)
{
    lua_pushnumber(L, tarn_report_clock());
    return 1;
}

/* work() -> the arithmetic done so far, and the bytes read and written, by the count of
 * the operations themselves. */
static int work(lua_State *L)
{
    const tarn_context *ctx = tarn_lua_context(L);
    lua_pushnumber(L, ctx->flops);
    lua_pushnumber(L, ctx->moved);
    return 2;
}

/* threads(n) -> how many there were; without n they stay as they are. */
static int threads(lua_State *L)
{
    tarn_context *ctx = tarn_lua_context(L);
    const int before = tarn_threads(ctx);
    if (!lua_isnoneornil(L, 1))
        tarn_lua_check(L, tarn_set_threads(ctx, (int)luaL_checkinteger(L, 1)));
    lua_pushinteger(L, before);
    return 1;
}

/* Sets a number of the table on top; NaN is left out. */
static void set(lua_State *L, const char *name, double value)
{
    if (isnan(value)) return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void push_row(lua_State *L, const struct tarn_machine *machine,
                     const struct tarn_bench_row *row)
{
    const struct tarn_bench_case *of = row->of;
    lua_createtable(L, 0, 12);
    lua_pushstring(L, of->name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, tarn_dtype_name(row->dtype));
    lua_setfield(L, -2, "dtype");
    lua_pushstring(L, tarn_bench_precision(of));
    lua_setfield(L, -2, "precision");
    lua_pushinteger(L, (lua_Integer)(of->B * of->H));
    lua_setfield(L, -2, "H");
    lua_pushinteger(L, (lua_Integer)of->N);
    lua_setfield(L, -2, "N");
    lua_pushinteger(L, (lua_Integer)of->D);
    lua_setfield(L, -2, "D");
    set(L, "median", row->seconds.median);
    set(L, "min", row->seconds.min);
    set(L, "max", row->seconds.max);
    set(L, "flops_per_s", row->speed);
    set(L, "percent_peak", tarn_bench_percent(machine, row));
    set(L, "rms_error", row->rms_error);
}

/* measure(name) -> {isa =, threads =, peak = of float32, peak64 = of float64, rows = {..}} */
static int measure(lua_State *L)
{
    tarn_context *ctx = tarn_lua_context(L);
    const char *name = luaL_checkstring(L, 1);
    struct tarn_machine machine = tarn_machine_here(ctx);
    struct tarn_bench_row rows[TARN_BENCH_ROWS];
    size_t count = 0;
    tarn_lua_check(L, tarn_bench_operation(ctx, &machine, name, true, rows, &count));
    lua_newtable(L);
    lua_pushstring(L, machine.isa);
    lua_setfield(L, -2, "isa");
    lua_pushinteger(L, machine.threads);
    lua_setfield(L, -2, "threads");
    set(L, "peak", machine.peak[TARN_FLOAT32].best);
    set(L, "peak64", machine.peak[TARN_FLOAT64].best);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_row(L, &machine, &rows[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "rows");
    return 1;
}

void tarn_open_bench(lua_State *L)
{
    static const luaL_Reg machine[] = {{"clock", clock_seconds},
                                       {"threads", threads},
                                       {"work", work},
                                       {"measure", measure},
                                       {NULL, NULL}};
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    luaL_newlib(L, machine);
    const char *const *names = tarn_bench_names();
    lua_newtable(L);
    for (; *names; names++) {
        lua_pushboolean(L, 1);
        lua_setfield(L, -2, *names);
    }
    lua_setfield(L, -2, "operations"); /* the names that measure knows, as keys */
    lua_setfield(L, -2, "tarn.machine");
    lua_pop(L, 1);
}
