/* regions.c: what the chapter good.md shows; tests/cli/book.sh spoils copies of both. */

/* Twice a number. */
static int twice(int x)
{
    //> region inner
    int y = x + x;
    //< region inner
    return y;
}

//> region whole
/* Half of it,
 * rounded down. */
static int half(int x)
{
    return twice(x) / 4;
}
//< region whole

Test(halves, are_half_of_it)
{
    //> region claim
    cr_assert(half(4) == 2);
    //< region claim
}
