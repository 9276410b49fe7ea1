/* lab.h: what the program tarn-lab needs from C beside what the prompt has. Internal.
 *
 * Openers: each adds its functions to the module "tarn.lab.system", which the first makes. */
#ifndef TARN_LAB_H
#define TARN_LAB_H

#include <lua.h>

void tarn_lab_files_open(lua_State *L);     /* folders, times of files, this program */
void tarn_lab_taken_open(lua_State *L);     /* what learners hand in, and leave */
void tarn_lab_processes_open(lua_State *L); /* child processes */
void tarn_lab_child_open(lua_State *L);     /* what this program does as a child */

/* Pushes the module "tarn.lab.system". */
void tarn_lab_push_system(lua_State *L);

#endif
