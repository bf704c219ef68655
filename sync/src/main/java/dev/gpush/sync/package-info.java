/** File sync as pure steps over snapshots: scan, plan, stage, commit. */
@NullMarked
package dev.gpush.sync;

import org.jspecify.annotations.NullMarked;
