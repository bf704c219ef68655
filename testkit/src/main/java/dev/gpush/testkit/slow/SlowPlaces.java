package dev.gpush.testkit.slow;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A Java agent for {@code scripts/slow-places}: before some calls, returns and writes to fields, of
 * the program and of its tests, a thread pauses the first times. A seed draws these places. A pause
 * between an answer and the state that it announces, which a busy machine makes once in a thousand
 * runs, happens with one of fifty seeds.
 */
public final class SlowPlaces implements ClassFileTransformer {
  private static final String OURS = "dev/gpush/";
  private static final String TESTKIT = OURS + "testkit/";

  /** One place of this many. */
  private static final int SHARE = 50;

  private static final ClassDesc PAUSE = ClassDesc.of(Pause.class.getName());
  private static final MethodTypeDesc HERE =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);

  private final long seed;

  private SlowPlaces(long seed) {
    this.seed = seed;
  }

  /**
   * As the JVM calls it.
   *
   * @param seed a number
   */
  public static void premain(String seed, Instrumentation program) {
    program.addTransformer(new SlowPlaces(Long.parseLong(seed)));
  }

  @Override
  public byte @Nullable [] transform(
      @Nullable ClassLoader loader,
      String name,
      @Nullable Class<?> before,
      @Nullable ProtectionDomain domain,
      byte[] bytes) {
    if (loader == null || !name.startsWith(OURS) || name.startsWith(TESTKIT)) {
      return null;
    }
    // By reading: to load classes here would load them before their time.
    var hierarchy =
        ClassHierarchyResolver.ofResourceParsing(loader)
            .orElse(ClassHierarchyResolver.defaultResolver());
    ClassFile files = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(hierarchy));
    return files.transformClass(
        files.parse(bytes),
        (made, part) -> {
          if (part instanceof MethodModel method) {
            made.transformMethod(method, MethodTransform.transformingCode(pauses(name, method)));
          } else {
            made.with(part);
          }
        });
  }

  private CodeTransform pauses(String name, MethodModel method) {
    String signature = name + method.methodName() + method.methodType();
    var random = new SplittableRandom(seed * 31 + signature.hashCode());
    return (code, element) -> {
      if (isPlace(method, element) && random.nextInt(SHARE) == 0) {
        code.loadConstant(random.nextInt()).invokestatic(PAUSE, "here", HERE);
      }
      code.with(element);
    };
  }

  /** Not in constructors and initializers: no other thread has the object yet. */
  private static boolean isPlace(MethodModel method, CodeElement element) {
    return !method.methodName().stringValue().startsWith("<")
        && switch (element) {
          case InvokeInstruction _, ReturnInstruction _ -> true;
          case FieldInstruction field ->
              field.opcode() == Opcode.PUTFIELD || field.opcode() == Opcode.PUTSTATIC;
          default -> false;
        };
  }
}
