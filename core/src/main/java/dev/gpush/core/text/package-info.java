/** Text that may hold bytes which are not UTF-8: names of files, words of command lines. */
@NullMarked
package dev.gpush.core.text;

import org.jspecify.annotations.NullMarked;
