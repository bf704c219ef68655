# Starts CUDA on each GPU that a rank of this Python would see, each in a process of its own: a driver that hangs holds up no other
# GPU. Without torch. One line of JSON after a mark.
import ctypes, json, os, select, signal, sys, time
LIMIT = 30.0


def driver():
    cuda = ctypes.CDLL("libcuda.so.1")
    check(cuda, cuda.cuInit(0), "cuInit")
    return cuda


def check(cuda, status, call):
    if status:
        name = ctypes.c_char_p()
        cuda.cuGetErrorName(status, ctypes.byref(name))
        raise RuntimeError("%s: %s (%d)" % (call, name.value.decode() if name.value else "CUDA error", status))


def count():
    cuda, found = driver(), ctypes.c_int()
    check(cuda, cuda.cuDeviceGetCount(ctypes.byref(found)), "cuDeviceGetCount")
    return found.value


def start(gpu):
    cuda, device, context = driver(), ctypes.c_int(), ctypes.c_void_p()
    check(cuda, cuda.cuDeviceGet(ctypes.byref(device), gpu), "cuDeviceGet")
    check(cuda, cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device), "cuCtxCreate")
    check(cuda, cuda.cuCtxDestroy_v2(context), "cuCtxDestroy")


def child(function, *arguments):
    """The end of a pipe with its result, and its process; CUDA does not survive a fork, so it begins in the child."""
    end, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            try:
                result = {"result": function(*arguments)}
            except (OSError, RuntimeError, AttributeError) as error:
                result = {"error": str(error)[:300]}
            os.write(out, json.dumps(result).encode())
        finally:
            os._exit(0)
    os.close(out)
    return end, pid


def result(end, pid, until):
    """One that hangs in the driver may not even be killed; it is not waited for."""
    ready = select.select([end], [], [], max(0.0, until - time.time()))[0]
    data = os.read(end, 65536) if ready else b""
    if not ready:
        os.kill(pid, signal.SIGKILL)
        return {"error": "no answer within %d s" % LIMIT}
    status = os.waitpid(pid, 0)[1]
    if not data:
        return {"error": "ended by signal %d" % (status & 127)}
    return json.loads(data.decode())


found = result(*(child(count) + (time.time() + LIMIT,)))
answer = {"error": found["error"]} if "error" in found else {"gpus": []}
if "result" in found:
    running, until = [child(start, gpu) for gpu in range(found["result"])], time.time() + LIMIT
    for end, pid in running:
        answer["gpus"].append(result(end, pid, until).get("error"))
sys.stdout.write("\ngpush-cuda " + json.dumps(answer) + "\n")
sys.stdout.flush()
os._exit(0)
