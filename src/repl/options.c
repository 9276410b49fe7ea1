/* options.c: the command line of tarn. See options.h.
 *
 * Options are GNU's (getopt_long); what follows the script belongs to the script. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "repl/options.h"
#include "repl/report.h"
#include "tarn.h"
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_READLINE
#include <readline/readline.h>
#endif

/* Long options without a letter of their own. */
enum {
    OPTION_COLOR = UCHAR_MAX + 1,
    OPTION_DEVICE,
    OPTION_DOCTEST,
    OPTION_DOCTEST_FIX,
    OPTION_SLOW,
    OPTION_THREADS,
    OPTION_SEED,
    OPTION_NO_INIT,
    OPTION_NO_HISTORY,
    OPTION_HISTORY,
    OPTION_RESTRICTED,
    OPTION_MEMORY,
    OPTION_TIME,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"color", required_argument, NULL, OPTION_COLOR},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"doctest", no_argument, NULL, OPTION_DOCTEST},
    {"doctest-fix", no_argument, NULL, OPTION_DOCTEST_FIX},
    {"slow", no_argument, NULL, OPTION_SLOW},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"no-init", no_argument, NULL, OPTION_NO_INIT},
    {"no-history", no_argument, NULL, OPTION_NO_HISTORY},
    {"history", required_argument, NULL, OPTION_HISTORY},
    {"restricted", no_argument, NULL, OPTION_RESTRICTED},
    {"memory", required_argument, NULL, OPTION_MEMORY},
    {"time", required_argument, NULL, OPTION_TIME},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static const char *const colors[] = {"auto", "always", "never", NULL};
static const char *const devices[] = {"cpu", "emu", "cuda", "auto", NULL};

/* Complains about the usage; the second line says where to look. */
static int usage(const char *format, const char *a, const char *b)
{
    fputs("tarn: ", stderr);
    fprintf(stderr, format, a, b);
    fputs("\nTry 'tarn --help' for more information.\n", stderr);
    return 2;
}

/* The position of a word in a list; -1 after a complaint that shows the list. */
static int choose(const char *option, const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(word, words[i]) == 0) return i;
    fprintf(stderr, "tarn: %s=%s: expected ", option, word);
    for (int i = 0; words[i]; i++)
        fprintf(stderr, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    fputs("\nTry 'tarn --help' for more information.\n", stderr);
    return -1;
}

/* Reads a whole number up to `limit`. Unlike strtoull alone it takes neither a sign nor
 * what follows the digits. */
static bool read_number(const char *text, uint64_t limit, uint64_t *number)
{
    char *end;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (*end || errno || value > limit) return false;
    *number = value;
    return true;
}

/* Reads a number of bytes such as 512M; the letters K, M and G are powers of 1024. */
static bool read_size(const char *text, uint64_t *bytes)
{
    static const char letters[] = "KMG";
    char digits[24];
    const size_t length = strlen(text);
    const char *letter = length > 0 ? strchr(letters, text[length - 1]) : NULL;
    const int shift = letter ? 10 * (int)(letter - letters + 1) : 0;
    if (length == 0 || length >= sizeof digits) return false;
    snprintf(digits, sizeof digits, "%.*s", (int)(length - (letter != NULL)), text);
    if (!read_number(digits, UINT64_MAX >> shift, bytes) || *bytes == 0) return false;
    *bytes <<= shift;
    return true;
}

/* Takes the options that have a value to be checked: 0, or 2 after a complaint. */
static int take_value(struct tarn_invocation *inv, int option)
{
    uint64_t number;
    int choice;
    switch (option) {
    case OPTION_COLOR:
        choice = choose("--color", optarg, colors);
        if (choice < 0) return 2;
        inv->color = (enum tarn_color)choice;
        return 0;
    case OPTION_DEVICE:
        choice = choose("--device", optarg, devices);
        if (choice < 0) return 2;
        inv->device = devices[choice];
        return 0;
    case OPTION_THREADS:
        if (!read_number(optarg, 1024, &number) || number == 0)
            return usage("--threads=%s: expected a number from 1 to 1024%s", optarg,
                         "");
        inv->threads = (int)number;
        return 0;
    case OPTION_MEMORY:
        if (read_size(optarg, &inv->memory)) return 0;
        return usage("--memory=%s: expected a number of bytes, such as 512M%s", optarg,
                     "");
    case OPTION_TIME:
        if (read_number(optarg, INT_MAX, &inv->time) && inv->time > 0) return 0;
        return usage("--time=%s: expected a whole number of seconds%s", optarg, "");
    default:
        if (!read_number(optarg, UINT64_MAX, &number))
            return usage("--seed=%s: expected a whole number from 0 to 2^64 - 1%s",
                         optarg, "");
        inv->seed = number;
        inv->seeded = true;
        return 0;
    }
}

/* Says what getopt did not like. `current` is the argument it was looking at. */
static int refuse(int problem, const char *current)
{
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_long = current && strncmp(current, "--", 2) == 0;
    const char *option = is_long ? current : letter;
    if (problem == ':') return usage("option '%s' needs a value%s", option, "");
    if (is_long && optopt) return usage("option '%s' takes no value%s", option, "");
    return usage("unknown option '%s'%s", option, "");
}

/* Takes one option: 0, or 2 after a complaint. */
static int take(struct tarn_invocation *inv, int option, const char *current)
{
    switch (option) {
    case 'e':
    case 'l':
        inv->actions[inv->action_count++] = (struct tarn_action){(char)option, optarg};
        return 0;
    case 'i': inv->interactive = true; return 0;
    case OPTION_DOCTEST: inv->doctest = TARN_DOCTEST_CHECK; return 0;
    case OPTION_DOCTEST_FIX: inv->doctest = TARN_DOCTEST_FIX; return 0;
    case OPTION_SLOW: inv->slow = true; return 0;
    case OPTION_NO_INIT: inv->init = false; return 0;
    case OPTION_NO_HISTORY: inv->history = false; return 0;
    case OPTION_HISTORY: inv->history_file = optarg; return 0;
    case OPTION_RESTRICTED: inv->restricted = true; return 0;
    case OPTION_HELP: inv->help = true; return 0;
    case OPTION_VERSION: inv->version = true; return 0;
    case '?':
    case ':': return refuse(option, current);
    default: return take_value(inv, option);
    }
}

/* Checks that the options of --doctest are complete and alone: 0, or 2. */
static int check_doctest(const struct tarn_invocation *inv)
{
    const char *option =
        inv->doctest == TARN_DOCTEST_FIX ? "--doctest-fix" : "--doctest";
    if (!inv->doctest)
        return inv->slow ? usage("--slow goes with --doctest%s%s", "", "") : 0;
    if (inv->action_count > 0 || inv->interactive)
        return usage("%s takes neither -e, -i nor -l%s", option, "");
    if (inv->script == inv->argc) return usage("%s needs a FILE%s", option, "");
    return 0;
}

int tarn_options_read(int argc, char **argv, struct tarn_invocation *inv)
{
    *inv = (struct tarn_invocation){.argc = argc,
                                    .argv = argv,
                                    .script = argc,
                                    .init = true,
                                    .history = true,
                                    .device = "cpu"};
    inv->actions = calloc((size_t)argc + 1, sizeof *inv->actions);
    if (!inv->actions) {
        tarn_complain("not enough memory");
        return 1;
    }

    /* Stop at the first argument that is no option ('+'), and say errors ourselves. */
    opterr = 0;
    for (;;) {
        int position = optind;
        int option = getopt_long(argc, argv, "+:e:il:", long_options, NULL);
        if (option == -1) break;
        int status = take(inv, option, position < argc ? argv[position] : NULL);
        if (status != 0) return status;
    }
    inv->script = optind;
    return check_doctest(inv);
}

void tarn_options_free(struct tarn_invocation *inv)
{
    free(inv->actions);
}

static const char help_text[] =
    "Usage: tarn [OPTION]... [SCRIPT [ARGUMENT]...]\n"
    "  or:  tarn --doctest [--slow] FILE...\n"
    "Derive linear attention in four stages, and check at a Lua prompt that all\n"
    "its forms compute the same thing.\n"
    "\n"
    "Without SCRIPT, -e or -l, and on a terminal, tarn prompts for input.  When\n"
    "standard input is no terminal, or SCRIPT is -, the script is read from there.\n"
    "\n"
    "  -e CODE             run CODE; may be given several times\n"
    "  -i                  prompt for input after the script\n"
    "  -l NAME             require the module NAME into the global NAME\n"
    "      --color=WHEN    use colours: auto (on a terminal), always or never\n"
    "      --device=NAME   make tensors on cpu (the default), emu (an emulated GPU),\n"
    "                      cuda, or auto: cuda if there is a GPU, else emu\n"
    "      --threads=N     use N threads; results do not depend on it\n"
    "      --seed=N        start the random numbers from N\n"
    "      --no-init       do not run the startup file\n"
    "      --history=FILE  keep what is typed in FILE\n"
    "      --no-history    neither read nor write a history file\n"
    "      --doctest       run the transcripts in FILEs (Markdown, blocks ```repl)\n"
    "                      again, and show where the output is another one\n"
    "      --doctest-fix   the same, and write what differs into the FILEs\n"
    "      --slow          with these, also run the blocks marked slow\n"
    "      --restricted    for code one does not trust: no io, no system commands, no\n"
    "                      writing outside of the folder tarn was started in\n"
    "      --memory=SIZE   use at most SIZE bytes, such as 512M or 2G\n"
    "      --time=SECONDS  use at most so many seconds of processor time\n"
    "      --help          show this help and exit\n"
    "      --version       show the version and exit\n"
    "\n"
    "Exit status: 0 success, 1 an error, 2 a wrong command line, 130 stopped by ^C.\n"
    "\n"
    "Files and environment:\n"
    "  $XDG_CONFIG_HOME/tarn/init.lua  runs before the prompt, not before a script\n"
    "  $XDG_STATE_HOME/tarn/history    what was typed; TARN_HISTORY moves it\n"
    "  TARN_SLOW=1                     the same as --slow\n"
    "  TARN_ISA=NAME                   the instruction set of the tuned code:\n"
    "                                  baseline, x86-64-v3 or x86-64-v4\n"
    "  NO_COLOR                        no colours unless --color=always\n"
    "\n"
    "Examples:\n"
    "  tarn -e 'print(phi.elu1(tensor{-1, 0, 1}))'\n"
    "  tarn --seed=7 experiment.lua 4096\n";

void tarn_options_help(void)
{
    fputs(help_text, stdout);
}

void tarn_options_version(void)
{
    printf("tarn %s\n", tarn_version());
    fputs("Copyright (C) 2026 the tarn authors\n", stdout);
#ifdef HAVE_READLINE
    fputs(
        "tarn's own code is free under the MIT licence.  This program links GNU\n"
        "Readline and is therefore distributed under the GNU GPL, version 3 or later\n"
        "<https://gnu.org/licenses/gpl.html>.\n",
        stdout);
#else
    fputs("License MIT <https://opensource.org/licenses/MIT>.\n", stdout);
#endif
    fputs("This is free software: you are free to change and redistribute it.\n"
          "There is NO WARRANTY, to the extent permitted by law.\n"
          "\n"
          "Built with " LUA_RELEASE,
          stdout);
#ifdef HAVE_READLINE
    printf(" and Readline %s", rl_library_version);
#endif
    fputs(".\n", stdout);
}
