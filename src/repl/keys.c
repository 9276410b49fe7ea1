/* keys.c: what TAB and the arrow keys do at the prompt, with Readline. See keys.h. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "repl/keys.h"

#ifdef HAVE_READLINE
#include "repl/complete.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <readline/history.h>
#include <readline/readline.h>

/* Readline's callbacks have no argument to find the session by. */
static struct tarn_session *editing;
static struct tarn_completion completion;

/* ---- Completion ---- */

static void look(void)
{
    tarn_complete(editing->L, editing->unfinished, rl_line_buffer, rl_point,
                  &completion);
}

/* Readline asks where words end before it looks for one: here the completion begins. */
static char *word_breaks(void)
{
    look();
    rl_completer_quote_characters = completion.quoted ? "\"'" : NULL;
    return completion.breaks;
}

/* Gives Readline the candidates; without any it goes on to names of files, or not. */
static char **candidates(const char *word, int start, int end)
{
    char **matches = completion.matches;
    (void)word;
    (void)start;
    (void)end;
    completion.matches = NULL; /* Readline frees them */
    rl_completion_append_character = completion.append;
    rl_attempted_completion_over = !completion.files;
    return matches;
}

/* The name of a file as it stands in a string of Lua: \ and quotes have a \ before them. */
static char *escape(char *name, int match_type, char *quote)
{
    (void)match_type;
    char *escaped = malloc(2 * strlen(name) + 1), *end = escaped;
    if (!escaped) return NULL;
    for (; *name; name++) {
        if (*name == '\\' || *name == *quote) *end++ = '\\';
        *end++ = *name;
    }
    *end = '\0';
    return escaped;
}

/* The same backwards. */
static char *unescape(char *text, int quote)
{
    (void)quote;
    char *name = malloc(strlen(text) + 1), *end = name;
    if (!name) return NULL;
    for (; *text; text++) {
        if (*text == '\\' && text[1]) text++;
        *end++ = *text;
    }
    *end = '\0';
    return name;
}

/* Shows how the function at hand is called, below the line. */
static void show_note(void)
{
    int point = rl_point;
    rl_point = rl_end;
    rl_redisplay();
    rl_crlf();
    fprintf(rl_outstream, "%s", completion.note);
    rl_crlf();
    rl_point = point;
    rl_forced_update_display();
}

static bool only_blanks_before_cursor(void)
{
    for (int i = 0; i < rl_point; i++)
        if (rl_line_buffer[i] != ' ') return false;
    return true;
}

/* TAB. */
static int indent_or_complete(int count, int key)
{
    if (only_blanks_before_cursor()) {
        rl_insert_text("    ");
        return 0;
    }
    look();
    if (completion.note && !completion.matches) {
        show_note();
        return 0;
    }
    /* Readline lists the candidates when it sees itself called twice. */
    if (rl_last_func == indent_or_complete) rl_last_func = rl_complete;
    int status = rl_complete(count, key);
    if (completion.note) show_note();
    return status;
}

/* ---- History ---- */

static int earlier(int count, int key);
static int later(int count, int key);

/* A search is a run of arrow keys. */
static struct {
    bool going_on;
    char *typed; /* the line as it was before */
} arrows;

static void begin_search(void)
{
    free(arrows.typed);
    arrows.typed = strdup(rl_line_buffer);
    arrows.going_on = true;
}

/* After the last input comes what had been typed. */
static void end_search(void)
{
    using_history();
    if (arrows.typed) rl_replace_line(arrows.typed, 1);
    arrows.going_on = false;
}

/* Goes to the next input in a direction that begins as the line did up to the cursor when
 * the first arrow was pressed. The cursor then stands at its end. */
static int search(rl_command_func_t *direction, int count, int key)
{
    bool again = arrows.going_on && (rl_last_func == earlier || rl_last_func == later);
    if (again)
        rl_last_func =
            direction; /* Readline keeps the beginning if it is called again */
    else
        begin_search();
    int status = direction(count, key);
    if (again && status != 0 && direction == rl_history_search_forward) end_search();
    rl_point = rl_end;
    return status;
}

static int earlier(int count, int key)
{
    return search(rl_history_search_backward, count, key);
}

static int later(int count, int key)
{
    return search(rl_history_search_forward, count, key);
}

/* ---- Binding ---- */

static void bind(Keymap map)
{
    rl_bind_key_in_map('\t', indent_or_complete, map);
    rl_bind_keyseq_in_map("\033[A", earlier, map);
    rl_bind_keyseq_in_map("\033OA", earlier, map);
    rl_bind_keyseq_in_map("\033[B", later, map);
    rl_bind_keyseq_in_map("\033OB", later, map);
}

void tarn_keys_bind(struct tarn_session *session)
{
    editing = session;
    rl_completion_word_break_hook = word_breaks;
    rl_attempted_completion_function = candidates;
    rl_filename_quote_characters = "\\\"'";
    rl_filename_quoting_function = escape;
    rl_filename_dequoting_function = unescape;
    rl_variable_bind("expand-tilde", "on"); /* opening a file does not know ~ */
    bind(emacs_standard_keymap);
    bind(vi_insertion_keymap);
}

#endif
