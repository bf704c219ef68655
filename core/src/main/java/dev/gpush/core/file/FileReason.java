package dev.gpush.core.file;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/**
 * Why a file could not be used, as a clause. The message of a {@link FileSystemException} is often
 * only the path, and the reason is in the name of its class.
 */
public final class FileReason {
  private FileReason() {}

  /** For a sentence that names the file already. */
  public static String of(IOException failed) {
    return switch (failed) {
      case AccessDeniedException _ -> "permission denied";
      case NoSuchFileException _ -> "it does not exist";
      case FileAlreadyExistsException _ -> "it exists already";
      case NotDirectoryException _ -> "it is not a folder";
      case DirectoryNotEmptyException _ -> "the folder is not empty";
      case FileSystemException other when other.getReason() != null -> other.getReason();
      case FileSystemException _ -> "the system gave no reason";
      case IOException other when other.getMessage() != null -> other.getMessage();
      case IOException _ -> "the system gave no reason";
    };
  }
}
