/* A program of an image whose only libc is musl. */
#include <stdio.h>

int main(void) { return puts("hello from musl") < 0; }
