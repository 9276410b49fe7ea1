## tests/: unit tests (Criterion), tests of the program (shell) and in it (Lua).
