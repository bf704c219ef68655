/** For tests of what users read: samples of all failures, and a check for plain English. */
@NullMarked
package dev.gpush.testkit.text;

import org.jspecify.annotations.NullMarked;
