package dev.gpush.testkit.text;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.json.Json;
import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** One of each kind of failure, so that a test of texts leaves none out. */
public final class FailureSamples {
  private FailureSamples() {}

  /** All failures that there are. */
  public static List<Class<?>> records() {
    var records = new ArrayList<Class<?>>();
    for (Class<?> family : Failure.class.getPermittedSubclasses()) {
      records.addAll(Arrays.asList(family.getPermittedSubclasses()));
    }
    return records;
  }

  /**
   * A failure of this kind.
   *
   * @param full whether what may be empty has a value
   */
  public static Failure of(Class<?> record, boolean full) {
    return (Failure) sample(record, full);
  }

  private static Object sample(Class<?> record, boolean full) {
    try {
      RecordComponent[] components = record.getRecordComponents();
      Class<?>[] types =
          Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      Constructor<?> constructor = record.getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return constructor.newInstance(
          Arrays.stream(components).map(part -> value(part, full)).toArray());
    } catch (ReflectiveOperationException wrong) {
      throw new IllegalStateException(record.getName(), wrong);
    }
  }

  private static Object value(RecordComponent part, boolean full) {
    Type type = part.getGenericType();
    if (type instanceof ParameterizedType generic) {
      Class<?> of = (Class<?>) generic.getActualTypeArguments()[0];
      if (generic.getRawType() == Optional.class) {
        return full ? Optional.of(item(of, part.getName(), true)) : Optional.empty();
      }
      return full ? List.of(item(of, part.getName(), true), item(of, "other", true)) : List.of();
    }
    return item(part.getType(), part.getName(), full);
  }

  private static Object item(Class<?> type, String name, boolean full) {
    if (type == String.class) {
      return full || !List.of("detail", "noise", "remedy", "install", "log", "key").contains(name)
          ? "the-" + name
          : "";
    }
    if (type == int.class) {
      return full ? 3 : 1;
    }
    if (type == boolean.class) {
      return full;
    }
    if (type == long.class || type == Long.class) {
      return full ? 25_000L : 0L;
    }
    if (type == Json.class) {
      return full ? Json.object("path", "/x", "free", 0) : Json.object();
    }
    if (type == Duration.class) {
      return Duration.ofSeconds(full ? 20 : 0);
    }
    if (type == Instant.class) {
      return Instant.ofEpochSecond(full ? 1_800_000_000 : 0);
    }
    if (type == Failure.class) {
      return sample(BackendFailure.Taken.class, full);
    }
    if (type.isEnum()) {
      Object[] values = type.getEnumConstants();
      return values[full ? values.length - 1 : 0];
    }
    return sample(type, full);
  }
}
