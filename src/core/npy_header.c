/* npy_header.c: the header of a .npy file, a Python dictionary in one line.
 *
 *     header  = "{" [item {"," item} [","]] "}"         white space between any two tokens
 *     item    = string ":" value                        'descr', 'fortran_order', 'shape':
 *     descr   = string | a nested list or tuple         each once, in any order
 *     order   = "True" | "False"
 *     shape   = "(" ")" | "(" n "," ")" | "(" n "," n {"," n} [","] ")"
 *     string  = "'" characters "'" | '"' characters '"'
 *
 * Nothing else of Python is understood, and nothing is evaluated. Numbers may end in L, as
 * Python 2 wrote them. A nested descr (a structured type) is passed over only to be quoted
 * in the refusal. */
#include "core/npy.h"
#include "core/tensor.h"
#include <ctype.h>
#include <string.h>

enum { DESCR, ORDER, SHAPE, KEYS };
static const char *const keys[KEYS] = {"descr", "fortran_order", "shape"};

/* A position in the text, and what has been read so far. */
struct parser {
    tarn_context *ctx;
    const char *label, *begin, *at, *end;
    struct tarn_stored *stored;
    bool seen[KEYS];
};

/* Bytes of the file inside the parser's text. */
struct span {
    const char *at;
    size_t length;
};

/* ---- Messages ---------------------------------------------------------------------- */

/* A span fit to be shown: short, and without control characters. */
struct quote {
    char text[72];
};

static struct quote quote(struct span span)
{
    struct quote quote = {""};
    const size_t room = 64, length = span.length < room ? span.length : room;
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)span.at[i];
        quote.text[i] = c < 0x20 || c > 0x7e ? '?' : (char)c;
    }
    if (length < span.length) memcpy(quote.text + length, "...", 3);
    return quote;
}

/* Fails at the present position: what should be there, and what is. */
static tarn_status fail_here(const struct parser *p, const char *expected)
{
    const size_t left = (size_t)(p->end - p->at), shown = left < 12 ? left : 12;
    const size_t position = (size_t)(p->at - p->begin);
    if (left == 0)
        return tarn_fail(p->ctx, TARN_EFORMAT,
                         "%s: header: expected %s, found its end after %zu bytes",
                         p->label, expected, position);
    return tarn_fail(p->ctx, TARN_EFORMAT,
                     "%s: header: expected %s at byte %zu, found \"%s\"", p->label,
                     expected, position, quote((struct span){p->at, shown}).text);
}

static tarn_status fail_descr(const struct parser *p, struct span descr)
{
    return tarn_fail(
        p->ctx, TARN_EFORMAT,
        "%s: descr is %s, expected one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 with the "
        "byte order '<' or '>' before it ('|' for one byte); complex numbers, text, "
        "dates, objects and structures are not read",
        p->label, quote(descr).text);
}

/* ---- Tokens ------------------------------------------------------------------------ */

static void skip_space(struct parser *p)
{
    while (p->at < p->end && *p->at != '\0' && strchr(" \t\n\r\f\v", *p->at)) p->at++;
}

/* Takes the next token if it is `c`. */
static bool take(struct parser *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c) return false;
    p->at++;
    return true;
}

/* Takes a string, which may have no escapes in it; the span is what the quotes hold. */
static bool take_string(struct parser *p, struct span *string)
{
    skip_space(p);
    if (p->at == p->end || (*p->at != '\'' && *p->at != '"')) return false;
    const char *at = p->at + 1;
    while (at < p->end && *at != *p->at && *at != '\\' && *at != '\n') at++;
    if (at == p->end || *at != *p->at) return false;
    *string = (struct span){p->at + 1, (size_t)(at - p->at) - 1};
    p->at = at + 1;
    return true;
}

static bool take_word(struct parser *p, const char *word)
{
    const size_t length = strlen(word);
    skip_space(p);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* Takes a whole number; false also if there is one too many digits for a size. */
static bool take_size(struct parser *p, size_t *size)
{
    skip_space(p);
    const char *at = p->at;
    size_t value = 0;
    for (; at < p->end && isdigit((unsigned char)*at); at++)
        if (!tarn_product(value, 10, &value) ||
            __builtin_add_overflow(value, (size_t)(*at - '0'), &value))
            return false;
    if (at == p->at || (*p->at == '0' && at > p->at + 1)) return false;
    if (at < p->end && *at == 'L') at++;
    p->at = at;
    *size = value;
    return true;
}

/* ---- Values ------------------------------------------------------------------------ */

/* Passes over a nested list or tuple; brackets inside strings do not count. */
static struct span take_nested(struct parser *p)
{
    const char *begin = p->at;
    size_t depth = 0;
    char inside = '\0'; /* the quote of the string we are in */
    do {
        const char c = *p->at++;
        if (inside != '\0' && c == '\\' && p->at < p->end)
            p->at++;
        else if (inside != '\0')
            inside = c == inside ? '\0' : inside;
        else if (c == '\'' || c == '"')
            inside = c;
        else if (c == '(' || c == '[')
            depth++;
        else if (c == ')' || c == ']')
            depth--;
    } while (depth > 0 && p->at < p->end);
    return (struct span){begin, (size_t)(p->at - begin)};
}

static tarn_status parse_descr(struct parser *p)
{
    struct span descr;
    skip_space(p);
    if (p->at < p->end && (*p->at == '[' || *p->at == '('))
        return fail_descr(p, take_nested(p));
    if (!take_string(p, &descr)) return fail_here(p, "a string after 'descr'");
    const struct span quoted = {descr.at - 1, descr.length + 2};
    if (descr.length == 0 || !memchr("<>|", descr.at[0], 3))
        return fail_descr(p, quoted);
    const struct tarn_number *number = tarn_number_find(descr.at + 1, descr.length - 1);
    if (number == NULL || (descr.at[0] == '|' && number->size > 1))
        return fail_descr(p, quoted);
    p->stored->number = number;
    p->stored->big_endian = descr.at[0] == '>';
    return TARN_OK;
}

static tarn_status parse_order(struct parser *p)
{
    p->stored->fortran_order = take_word(p, "True");
    if (p->stored->fortran_order || take_word(p, "False")) return TARN_OK;
    return fail_here(p, "True or False after 'fortran_order'");
}

static tarn_status parse_shape(struct parser *p)
{
    struct tarn_stored *stored = p->stored;
    bool comma = false;
    if (!take(p, '(')) return fail_here(p, "a tuple after 'shape'");
    while (!take(p, ')')) {
        if (stored->rank > 0 && !comma) return fail_here(p, "',' or ')' in the shape");
        if (stored->rank == TARN_MAX_RANK)
            return tarn_fail(p->ctx, TARN_EFORMAT,
                             "%s: the shape has more than %d dimensions", p->label,
                             TARN_MAX_RANK);
        if (!take_size(p, &stored->shape[stored->rank]))
            return fail_here(p, "a size in the shape");
        stored->rank++;
        comma = take(p, ',');
    }
    if (stored->rank != 1 || comma) return TARN_OK;
    return tarn_fail(
        p->ctx, TARN_EFORMAT,
        "%s: header: the shape is the number (%zu), expected the tuple (%zu,)",
        p->label, stored->shape[0], stored->shape[0]);
}

static tarn_status parse_item(struct parser *p)
{
    /* Read the key, which must be new. */
    struct span key;
    if (!take_string(p, &key)) return fail_here(p, "a key or '}'");
    int which = 0;
    while (which < KEYS && (key.length != strlen(keys[which]) ||
                            memcmp(key.at, keys[which], key.length) != 0))
        which++;
    if (which == KEYS)
        return tarn_fail(p->ctx, TARN_EFORMAT,
                         "%s: header: the key '%s' is unknown, expected 'descr', "
                         "'fortran_order' and 'shape'",
                         p->label, quote(key).text);
    if (p->seen[which])
        return tarn_fail(p->ctx, TARN_EFORMAT,
                         "%s: header: the key '%s' is there twice", p->label,
                         keys[which]);
    p->seen[which] = true;

    /* Read its value. */
    if (!take(p, ':')) return fail_here(p, "':' after the key");
    if (which == DESCR) return parse_descr(p);
    return which == ORDER ? parse_order(p) : parse_shape(p);
}

tarn_status tarn_npy_header(tarn_context *ctx, const char *label, const char *text,
                            size_t length, struct tarn_stored *stored)
{
    struct parser p = {.ctx = ctx,
                       .label = label,
                       .begin = text,
                       .at = text,
                       .end = text + length,
                       .stored = stored};
    *stored = (struct tarn_stored){0};

    /* Read the dictionary, and nothing after it. */
    bool comma = true;
    if (!take(&p, '{')) return fail_here(&p, "'{'");
    while (!take(&p, '}')) {
        if (!comma) return fail_here(&p, "',' or '}'");
        tarn_status status = parse_item(&p);
        if (status != TARN_OK) return status;
        comma = take(&p, ',');
    }
    skip_space(&p);
    if (p.at < p.end) return fail_here(&p, "nothing but spaces after '}'");

    for (int which = 0; which < KEYS; which++)
        if (!p.seen[which])
            return tarn_fail(ctx, TARN_EFORMAT, "%s: header: the key '%s' is missing",
                             label, keys[which]);
    return TARN_OK;
}
