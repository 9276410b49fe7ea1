## doc/: the man page, made from --help by the program itself, and later the book.
