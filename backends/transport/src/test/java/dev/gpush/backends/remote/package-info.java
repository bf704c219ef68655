/** Tests of what backends on other machines have in common. */
@org.jspecify.annotations.NullMarked
package dev.gpush.backends.remote;
