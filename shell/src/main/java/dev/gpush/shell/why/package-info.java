/**
 * The answer of {@code gpush why}: {@code RunExplanation} and {@code SessionExplanation} are pure
 * functions that make an {@code Explanation} of what is known; {@code StackGroup} and {@code
 * RankSpot} say which ranks are at the same place in their code.
 */
@NullMarked
package dev.gpush.shell.why;

import org.jspecify.annotations.NullMarked;
