"""The two sides of a measurement: a gpush with a home of its own, and OpenSSH's sshd on this machine."""
import os
import pwd
import shutil
import socket
import subprocess
import time


class Sshd:
    """A local sshd of its own: key, port, configuration; ended by pid."""

    def __init__(self, folder, *more):
        """`more`: lines of its configuration."""
        self.folder = folder
        self.user = pwd.getpwuid(os.getuid()).pw_name
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(folder, name)], check=True)
        shutil.copy(os.path.join(folder, "user.pub"), os.path.join(folder, "authorized"))
        lines = ["Port %d" % self.port, "ListenAddress 127.0.0.1", "HostKey %s/host" % folder, "AuthorizedKeysFile %s/authorized" % folder,
                 "StrictModes no", "UsePAM no", "PidFile none", "PermitRootLogin yes", "Subsystem sftp internal-sftp"] + list(more)
        with open(os.path.join(folder, "sshd_config"), "w") as out:
            out.write("\n".join(lines) + "\n")
        with open(os.path.join(folder, "ssh_config"), "w") as out:
            out.write("Host rival\n HostName 127.0.0.1\n Port %d\n User %s\n IdentityFile %s/user\n IdentitiesOnly yes\n"
                      " StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n Ciphers aes128-gcm@openssh.com\n"
                      % (self.port, self.user, folder))
        self.ssh = ["ssh", "-F", os.path.join(folder, "ssh_config"), "rival"]
        os.makedirs("/run/sshd", exist_ok=True)
        self.process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", os.path.join(folder, "sshd_config")], stderr=subprocess.DEVNULL)
        deadline = time.time() + 10
        while time.time() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("sshd did not start")

    def close(self):
        self.process.terminate()
        self.process.wait()


class Gpush:
    """A gateway of its own with a session on this machine, by this build of gpush."""

    def __init__(self, program, folder, *up):
        self.program, self.folder = program, folder
        self.project = os.path.join(folder, "proj")
        os.makedirs(self.project)
        open(os.path.join(self.project, "gpush.yaml"), "w").close()
        self.env = dict(os.environ, GPUSH_HOME=os.path.join(folder, "home"))
        self.run("up", *up, check=True)
        self.ssh = ["ssh", "-F", os.path.join(folder, "home", "ssh_config"), "devbox"]

    def run(self, *words, check=False):
        subprocess.run((self.program,) + words, cwd=self.project, env=self.env, check=check, stdin=subprocess.DEVNULL)

    def close(self):
        self.run("down", "--discard")
        self.run("gateway", "stop")
