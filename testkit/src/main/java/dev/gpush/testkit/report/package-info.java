/** Reports of a test run beyond passed and failed. Found by JUnit as a service. */
@NullMarked
package dev.gpush.testkit.report;

import org.jspecify.annotations.NullMarked;
