/**
 * Reports of a test run beyond passed and failed, and what must hold before it begins. Found by
 * JUnit as services.
 */
@NullMarked
package dev.gpush.testkit.report;

import org.jspecify.annotations.NullMarked;
