/**
 * The plan of a run: what the nodes of a session said of their network ({@code SessionFacts}), and
 * what the ranks of one run get from it ({@code RunFabrics}, {@code RankFabric}).
 */
@NullMarked
package dev.gpush.launch.fabric.session;

import org.jspecify.annotations.NullMarked;
