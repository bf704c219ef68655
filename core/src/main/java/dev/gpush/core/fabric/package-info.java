/**
 * The network of a gang: what is set for NCCL and why ({@code FabricPlan}), what is known of
 * providers ({@code Recipe}), and what {@code gpush check} found ({@code CheckReport}). The planner
 * is in {@code launch}, the YAML of recipes in {@code templates}, the tables in {@code shell};
 * these values are what they have in common.
 */
@NullMarked
package dev.gpush.core.fabric;

import org.jspecify.annotations.NullMarked;
