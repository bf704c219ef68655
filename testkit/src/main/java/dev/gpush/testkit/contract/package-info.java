/**
 * What every adapter of a port must do, as tests: a test class implements the contract's interface
 * and says how its place is made.
 */
@NullMarked
package dev.gpush.testkit.contract;

import org.jspecify.annotations.NullMarked;
