package dev.gpush.sync.git;

import dev.gpush.sync.tree.Hashes;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * The paths that git tracks: of its index file, formats 2 to 4, split and sparse ones too.
 *
 * <p>Not JGit's DirCache: reading with that measures the file system's clock, which starts threads
 * and leaves probe files and a configuration file behind, and it knows no split index.
 *
 * @param files tracked files and links, from the top of the work tree
 * @param folders those above them, and submodules
 */
public record GitIndex(Set<String> files, Set<String> folders) {
  /** An index is some 100 bytes a file; a larger file is not an index. */
  private static final long MAX_BYTES = 1L << 30;

  private static final int SIGNATURE = 0x44495243; // DIRC
  private static final int LINK = 0x6c696e6b; // the split index extension
  private static final int HASH_BYTES = 20;
  private static final int STAT_BYTES = 40;
  private static final int EXTENDED = 0x4000;
  private static final int NAME_MASK = 0xfff;
  private static final int TYPE_MASK = 0170000;
  private static final int GITLINK = 0160000;
  private static final int FOLDER = 0040000;

  public static GitIndex empty() {
    return new GitIndex(Set.of(), Set.of());
  }

  /** Nothing when there is no index; a broken one is an {@link IOException}. */
  public static GitIndex read(Path gitFolder) throws IOException {
    var index = new GitIndex(new HashSet<>(), new HashSet<>());
    index.add(gitFolder, gitFolder.resolve("index"), true);
    return index;
  }

  boolean tracks(String path) {
    return files.contains(path);
  }

  boolean hasBelow(String folder) {
    return folders.contains(folder);
  }

  private void add(Path gitFolder, Path file, boolean mayBeSplit) throws IOException {
    ByteBuffer bytes;
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw new IOException("git index too large: " + file);
      }
      bytes = ByteBuffer.wrap(Files.readAllBytes(file));
    } catch (NoSuchFileException none) {
      return;
    }
    try {
      if (bytes.getInt() != SIGNATURE) {
        throw new IOException("not a git index: " + file);
      }
      int version = bytes.getInt();
      if (version < 2 || version > 4) {
        throw new IOException("git index of format " + version + ": " + file);
      }
      entries(bytes, version);
      if (mayBeSplit) {
        extensions(gitFolder, bytes);
      }
    } catch (BufferUnderflowException | IllegalArgumentException broken) {
      throw new IOException("broken git index: " + file, broken);
    }
  }

  private void entries(ByteBuffer bytes, int version) {
    byte[] name = {};
    for (int count = bytes.getInt(); count > 0; count--) {
      int start = bytes.position();
      int mode = bytes.getInt(start + 24);
      bytes.position(start + STAT_BYTES + HASH_BYTES);
      int flags = Short.toUnsignedInt(bytes.getShort());
      if (version > 2 && (flags & EXTENDED) != 0) {
        bytes.getShort();
      }
      if (version == 4) {
        name = compressed(bytes, name);
      } else {
        name = plain(bytes, flags & NAME_MASK);
        int length = bytes.position() - start;
        bytes.position(start + (length + 8) / 8 * 8);
      }
      add(new String(name, StandardCharsets.UTF_8), mode & TYPE_MASK);
    }
  }

  private static byte[] plain(ByteBuffer bytes, int length) {
    int known = length < NAME_MASK ? length : lengthToZero(bytes);
    var name = new byte[known];
    bytes.get(name);
    return name;
  }

  /** Format 4: removes this many bytes from the last name, then appends the rest. */
  private static byte[] compressed(ByteBuffer bytes, byte[] last) {
    int next = Byte.toUnsignedInt(bytes.get());
    int strip = next & 0x7f;
    while ((next & 0x80) != 0) {
      next = Byte.toUnsignedInt(bytes.get());
      strip = ((strip + 1) << 7) + (next & 0x7f);
    }
    int kept = last.length - strip;
    int added = lengthToZero(bytes);
    byte[] name = Arrays.copyOf(last, kept + added);
    bytes.get(name, kept, added);
    bytes.get();
    return name;
  }

  private static int lengthToZero(ByteBuffer bytes) {
    int end = bytes.position();
    while (bytes.get(end) != 0) {
      end++;
    }
    return end - bytes.position();
  }

  private void add(String path, int type) {
    if (path.isEmpty()) {
      return; // stands for an entry of the shared index that was replaced
    }
    boolean isFolder = type == GITLINK || type == FOLDER;
    String folder = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    if (isFolder) {
      folders.add(folder);
    } else {
      files.add(path);
    }
    int end = folder.lastIndexOf('/');
    while (end > 0 && folders.add(folder.substring(0, end))) {
      end = folder.lastIndexOf('/', end - 1);
    }
  }

  /**
   * A split index names the shared one; entries that were deleted since may stay: too much, never
   * too little.
   */
  private void extensions(Path gitFolder, ByteBuffer bytes) throws IOException {
    while (bytes.remaining() > HASH_BYTES + 8) {
      int signature = bytes.getInt();
      int length = bytes.getInt();
      if (signature == LINK) {
        var hash = new byte[HASH_BYTES];
        bytes.get(bytes.position(), hash);
        add(gitFolder, gitFolder.resolve("sharedindex." + Hashes.hex(hash)), false);
      }
      bytes.position(bytes.position() + length);
    }
  }
}
