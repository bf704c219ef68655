/** The page that {@code gpush gateway page} serves, without a browser. */
package dev.gpush.shell.page;
