/** The client's own process, as the gateway sees it: folder, environment, arguments. */
@NullMarked
package dev.gpush.control.client.process;

import org.jspecify.annotations.NullMarked;
