/** What is asked before tests are run. */
@NullMarked
package dev.gpush.testkit.report;

import org.jspecify.annotations.NullMarked;
