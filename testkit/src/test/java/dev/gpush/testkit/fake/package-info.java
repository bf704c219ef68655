/** The fakes before their contracts. */
@org.jspecify.annotations.NullMarked
package dev.gpush.testkit.fake;
