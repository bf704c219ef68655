@org.jspecify.annotations.NullMarked
package dev.gpush.shell.top;
