/**
 * One run: started on all nodes or on none ({@code RunStart}), watched to its end ({@code
 * RunWatch}), followed by readers ({@code RunFollower}), recorded ({@code RunHistory}).
 */
@NullMarked
package dev.gpush.launch.run;

import org.jspecify.annotations.NullMarked;
