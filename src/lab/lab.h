/* lab.h: what the program tarn-lab needs from C beside what the prompt has. Internal.
 *
 * Openers: each adds its functions to the module "tarn.lab.system", which the first makes. */
#ifndef TARN_LAB_H
#define TARN_LAB_H

#include <lua.h>

void tarn_lab_files_open(lua_State *L); /* folders, times of files, this program */

#endif
