/* assert.h: assert in a kernel ends its launch with a message, and not the program. For
 * words.h, and for a user's file that includes it. Chapter 11. */
#undef assert
#ifdef NDEBUG
#define assert(condition) static_cast<void>(0)
#else
#define assert(condition)                                                              \
    ((condition) ? static_cast<void>(0)                                                \
                 : tarn_emu_stop("assert(" #condition ") fails", __FILE__, __LINE__))
#endif
