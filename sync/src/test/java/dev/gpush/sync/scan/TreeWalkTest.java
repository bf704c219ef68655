package dev.gpush.sync.scan;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import org.junit.jupiter.api.Test;

final class TreeWalkTest {
  @Test
  void aFolderThatMacosProtectsIsDeniedLikeOneWithoutPermission() {
    assertTrue(TreeWalk.isDenied(new AccessDeniedException("d")));
    assertTrue(TreeWalk.isDenied(new FileSystemException("d", "", "Operation not permitted")));
    assertFalse(TreeWalk.isDenied(new FileSystemException("d", "", "Input/output error")));
    assertFalse(TreeWalk.isDenied(new FileSystemException("d")));
    assertFalse(TreeWalk.isDenied(new IOException("Operation not permitted")));
  }
}
