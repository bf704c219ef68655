@org.jspecify.annotations.NullMarked
package dev.gpush.backends.transport;
