/** What a run of the tests says beyond passed and failed. Found by JUnit as a service. */
@NullMarked
package dev.gpush.testkit.report;

import org.jspecify.annotations.NullMarked;
