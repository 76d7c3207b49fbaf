"""What a sandbox gives, and what it stops: each way out is tried from inside."""

import dataclasses
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandboxes import LIMITS, run_python, sandbox_or_skip

import tool_envs
from tool_envs.errors import InfrastructureError, UnknownNameError, UsageError
from tool_envs.repo.sandbox import Completed, Limits, SandboxError, find_sandbox
from tool_envs.repo.sandbox.bubblewrap import BubblewrapSandbox
from tool_envs.repo.sandbox.output import BoundedOutput


@pytest.fixture(params=["bubblewrap", "subprocess"])
def any_sandbox(request):
    return sandbox_or_skip(request.param)


@pytest.fixture
def sandbox():
    return sandbox_or_skip("bubblewrap")


def limits(**changed):
    return dataclasses.replace(LIMITS, **changed)


# What both give.


def test_a_command_runs_in_its_folder(any_sandbox, tmp_path):
    (tmp_path / "in").write_text("given")
    code = """
        import os, sys
        print(open("in").read(), sys.stdin.read(), os.environ["MORE"])
        print("problem", file=sys.stderr, flush=True)
        open("out", "w").write("made")
        sys.exit(7)
        """
    done = run_python(any_sandbox, tmp_path, code, stdin=b"told", environment={"MORE": "1"})

    assert done.exit_code == 7
    assert done.cut is None
    assert sorted(done.output.splitlines()) == ["given told 1", "problem"]
    assert (tmp_path / "out").read_text() == "made"


def test_a_command_that_a_signal_ends(any_sandbox, tmp_path):
    done = run_python(any_sandbox, tmp_path, "import os; os.kill(os.getpid(), 11)")

    assert done.exit_code == 128 + signal.SIGSEGV


def test_a_program_that_is_not_there(any_sandbox, tmp_path):
    assert any_sandbox.run(["no-such-program"], tmp_path, limits=LIMITS).exit_code == 127


def test_nothing_of_the_environment_is_inherited(any_sandbox, tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_API_KEY", "sk-1234")
    done = run_python(any_sandbox, tmp_path, "import os; print(sorted(os.environ))")

    assert set(eval_list(done)) <= {"HOME", "LANG", "PATH", "PWD", "PYTHONHASHSEED", "TMPDIR", "TZ"}


def eval_list(done):
    return done.output.strip("[]\n").replace("'", "").split(", ")


def test_output_is_cut_in_the_middle(any_sandbox, tmp_path):
    done = run_python(any_sandbox, tmp_path, "print('a' * 100_000 + 'z' * 100_000)")

    assert done.output == "a" * 2048 + "\n[... 195905 bytes left out ...]\n" + "z" * 2047 + "\n"


def test_an_output_bomb_meets_the_limit_of_cpu_time(any_sandbox, tmp_path):
    code = "while True: print('x' * 1000)"
    done = run_python(any_sandbox, tmp_path, code, limits=limits(cpu_seconds=1))

    assert (done.cut, done.exit_code) == ("cpu", None)
    assert len(done.output) < 5000


def test_a_busy_process_is_stopped(any_sandbox, tmp_path):
    done = run_python(any_sandbox, tmp_path, "while True: pass", limits=limits(cpu_seconds=1))

    assert done == Completed(exit_code=None, output="", cut="cpu")


def test_a_busy_process_that_ignores_the_signal_is_stopped(any_sandbox, tmp_path):
    code = "import signal; signal.signal(signal.SIGXCPU, lambda *_: None)\nwhile True: pass"
    done = run_python(any_sandbox, tmp_path, code, limits=limits(cpu_seconds=1))

    assert done.cut == "cpu"


def test_a_sleeping_process_is_stopped(any_sandbox, tmp_path):
    code = "import time; print('now', flush=True); time.sleep(1000)"
    done = run_python(any_sandbox, tmp_path, code, limits=limits(wall_seconds=1.5))

    assert done == Completed(exit_code=None, output="now\n", cut="wall")


def test_memory_of_one_process(any_sandbox, tmp_path):
    code = """
        try:
            bytearray(300 << 20)
        except MemoryError:
            print("no memory")
        """
    assert run_python(any_sandbox, tmp_path, code).output == "no memory\n"


def test_size_of_one_file(any_sandbox, tmp_path):
    code = """
        try:
            with open("big", "wb") as file:
                file.write(bytes(100 << 20))
        except OSError as error:
            print(error.strerror)
        """
    assert run_python(any_sandbox, tmp_path, code).output == "File too large\n"


def test_what_the_folder_holds_in_all(any_sandbox, tmp_path):
    code = """
        import itertools, time
        for n in itertools.count():
            open(f"file{n}", "wb").write(bytes(4 << 20))
            time.sleep(0.02)
        """
    assert run_python(any_sandbox, tmp_path, code).cut == "disk"


def test_nothing_is_waited_for_that_runs_on(any_sandbox, tmp_path):
    code = """
        import os, time
        if os.fork() == 0:
            time.sleep(1000)
        print("done")
        """
    assert run_python(any_sandbox, tmp_path, code) == Completed(exit_code=0, output="done\n", cut=None)


def test_fifty_at_once_are_all_right(any_sandbox, tmp_path):
    def run(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "number").write_text(str(number))
        code = "n = int(open('number').read()); open('square', 'w').write(str(n * n)); print(n); exit(n)"
        done = run_python(any_sandbox, folder, code)
        return done.exit_code, done.output, (folder / "square").read_text()

    with ThreadPoolExecutor(50) as pool:
        told = list(pool.map(run, range(50)))

    assert told == [(n, f"{n}\n", str(n * n)) for n in range(50)]


def test_no_more_run_at_once_than_there_are_cores(sandbox, tmp_path):
    cores = len(os.sched_getaffinity(0))
    code = """
        import time
        begin = time.monotonic(); time.sleep(0.5); print(begin, time.monotonic())
        """

    def run(number):
        (tmp_path / str(number)).mkdir()
        return tuple(map(float, run_python(sandbox, tmp_path / str(number), code).output.split()))

    with ThreadPoolExecutor(3 * cores) as pool:
        times = list(pool.map(run, range(3 * cores)))

    assert max(sum(begin <= at < end for begin, end in times) for at, _ in times) <= cores


# What bubblewrap stops.


def test_writes_outside_the_folder(sandbox, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link").symlink_to(outside)
    code = """
        import os, sys
        system = ["/", "/usr", "/usr/lib", "/etc", "/dev", "/proc/sys/kernel", "/bin", "/proc/1/root", ".."]
        for place in [*system, sys.prefix, sys.base_prefix, sys.argv[1], "link"]:
            try:
                open(os.path.join(place, "written"), "w")
            except OSError:
                continue
            print("wrote", place)
        """
    done = run_python(sandbox, tmp_path / "inside", code, outside)

    assert done == Completed(exit_code=0, output="", cut=None)
    assert list(outside.iterdir()) == []


def test_kernel_settings_are_not_to_be_changed(sandbox, tmp_path):
    code = """
        for name in ("kernel/core_pattern", "kernel/modprobe", "vm/drop_caches", "user/max_user_namespaces"):
            try:
                open("/proc/sys/" + name, "r+").write("1")
                print("wrote", name)
            except OSError:
                pass
        """
    assert run_python(sandbox, tmp_path, code).output == ""


def test_the_host_is_not_to_be_read(sandbox, tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "key").write_text("sk-1234")
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "key")
    code = """
        import os, sys
        print(sorted(os.listdir("/")))
        home, key, package = sys.argv[1:]
        system = ["/etc/shadow", "/var", "/run", "/sys", "/home"]
        for place in [key, "link", package + "/errors.py", home + "/.bashrc", *system]:
            if os.path.exists(place):
                print("sees", place)
        print([name for name in os.listdir("/etc")])
        """
    package = Path(tool_envs.__file__).parent
    done = run_python(sandbox, tmp_path / "inside", code, Path.home(), tmp_path / "key", package)

    assert "sees" not in done.output
    assert "home" not in done.output
    assert done.exit_code == 0


def test_this_package_is_hidden_where_it_is_installed(sandbox, tmp_path):
    installed = tmp_path / "env" / "lib" / "python3.99" / "site-packages" / "tool_envs" / "repo" / "data"
    installed.mkdir(parents=True)
    (installed / "test.jsonl").write_text("the answers")
    (installed.parents[2] / "other.py").write_text("x = 1")
    (tmp_path / "inside").mkdir()
    code = (
        "import os, sys; print([os.listdir(p + '/tool_envs') for p in sys.argv[1:]], os.listdir(sys.argv[1]))"
    )
    folder = installed.parents[2]
    readable = [tmp_path / "env"]
    done = run_python(sandbox, tmp_path / "inside", code, folder, readable=readable)
    root = run_python(
        sandbox, tmp_path / "inside", code, Path(tool_envs.__file__).parents[1], readable=readable
    )
    whole = [Path(tool_envs.__file__).parents[1] / "tool_envs"]
    own = run_python(
        sandbox, tmp_path / "inside", "import os, sys; print(os.listdir(sys.argv[1]))", *whole, readable=whole
    )

    assert done.output.replace("'", "") in ("[[]] [tool_envs, other.py]\n", "[[]] [other.py, tool_envs]\n")
    assert "FileNotFoundError" in root.output
    assert own.output == "[]\n"


def test_processes_of_the_host_are_not_seen(sandbox, tmp_path):
    code = """
        import os, signal, sys
        print(len([name for name in os.listdir("/proc") if name.isdigit()]) < 5)
        try:
            os.kill(int(sys.argv[1]), signal.SIGKILL)
        except OSError as error:
            print(error.strerror)
        print("--" + "bind" in open("/proc/1/cmdline").read(), os.path.exists(f"/proc/{sys.argv[1]}"))
        """
    with subprocess.Popen(["/bin/sleep", "1000"]) as victim:
        done = run_python(sandbox, tmp_path, code, victim.pid)
        alive = victim.poll() is None
        victim.kill()

    assert alive
    assert done.output == "True\nNo such process\nFalse False\n"


def test_signals_to_everybody_stay_inside(sandbox, tmp_path):
    with subprocess.Popen(["/bin/sleep", "1000"]) as victim:
        run_python(sandbox, tmp_path, "import os; os.kill(-1, 9)")
        alive = victim.poll() is None
        victim.kill()

    assert alive


def test_the_network_is_not_reached(sandbox, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as service, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0tool-envs-test-{os.getpid()}")
        abstract.listen()
        named = socket.socket(socket.AF_UNIX)
        named.bind(str(tmp_path / "socket"))
        named.listen()
        (tmp_path / "inside").mkdir()
        code = """
            import socket, sys
            port, abstract, named = int(sys.argv[1]), "\\0" + sys.argv[2], sys.argv[3]
            places = [
                (socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET, ("1.1.1.1", 53)),
                (socket.AF_INET6, ("::1", port)), (socket.AF_UNIX, abstract), (socket.AF_UNIX, named),
            ]
            for family, place in places:
                try:
                    with socket.socket(family) as made:
                        made.settimeout(5)
                        made.connect(place)
                    print("reached", place)
                except OSError:
                    pass
            print(len(socket.if_nameindex()))
            """
        arguments = service.getsockname()[1], f"tool-envs-test-{os.getpid()}", tmp_path / "socket"
        done = run_python(sandbox, tmp_path / "inside", code, *arguments)
        named.close()

    assert done.output == "1\n"


def test_calls_that_pass_by_the_namespaces(sandbox, tmp_path):
    code = """
        import ctypes, errno, os, platform, socket
        libc = ctypes.CDLL(None, use_errno=True)
        for family in (socket.AF_VSOCK, 38, 17):  # of virtual machines, of the kernel's ciphers, of packets
            try:
                socket.socket(family, socket.SOCK_STREAM); print("made", family)
            except OSError as error:
                print(errno.errorcode[error.errno])
        numbers = {"x86_64": (250, 425, 29), "aarch64": (219, 425, 194)}[platform.machine()]
        for number in numbers:
            print(libc.syscall(number, 0, 0, 0, 0, 0), errno.errorcode[ctypes.get_errno()])
        print(libc.syscall(0x40000000 + numbers[0], 0, 0, 0), errno.errorcode[ctypes.get_errno()])
        a, b = socket.socketpair(); a.send(b"x"); print(b.recv(1))
        """
    refused = ["EAFNOSUPPORT"] * 3 + ["-1 EPERM"] * 3 + ["-1 ENOSYS"]
    assert run_python(sandbox, tmp_path, code).output.splitlines() == [*refused, "b'x'"]


def test_its_own_loopback_works(sandbox, tmp_path):
    code = """
        import socket
        server = socket.create_server(("localhost", 0))
        client = socket.create_connection(server.getsockname())
        server.accept()[0].send(b"hello"); print(client.recv(5))
        """
    assert run_python(sandbox, tmp_path, code).output == "b'hello'\n"


def test_a_fork_bomb_runs_into_the_limit(sandbox, tmp_path):
    code = """
        import os, time
        made = 0
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(5); os._exit(0)
                made += 1
        except OSError as error:
            print(made, error.strerror)
        """
    done = run_python(sandbox, tmp_path, code)

    assert done.output == f"{LIMITS.processes - 1} Resource temporarily unavailable\n"


def test_a_fork_bomb_harms_no_other_run(sandbox, tmp_path):
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"

    def run(number):
        (tmp_path / str(number)).mkdir()
        if number == 0:
            return run_python(sandbox, tmp_path / "0", bomb, limits=limits(cpu_seconds=3)).cut
        code = "import subprocess; print(subprocess.run(['echo', 'fine'], capture_output=True).stdout)"
        return run_python(sandbox, tmp_path / str(number), code).output

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(run, range(4)))

    assert told == ["cpu", *["b'fine\\n'\n"] * 3]


def test_memory_of_many_processes(sandbox, tmp_path):
    code = """
        import os, time
        for _ in range(8):
            if os.fork() == 0:
                kept = bytearray(os.urandom(1 << 20) * 60)
                time.sleep(1000)
        time.sleep(1000)
        """
    assert run_python(sandbox, tmp_path, code).cut == "memory"


def test_memory_that_is_shared_is_counted_once(sandbox, tmp_path):
    code = """
        import os, time
        kept = bytearray(os.urandom(1 << 20) * 100)
        children = [os.fork() for _ in range(1)]
        for _ in range(8):
            if 0 not in children:
                children.append(os.fork())
        if 0 not in children:
            time.sleep(2); print("fine")
        else:
            time.sleep(2); os._exit(0)
        """
    done = run_python(sandbox, tmp_path, code)

    assert (done.cut, done.output) == (None, "fine\n")


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])  # noqa: S108 - the sandbox's own
def test_files_in_memory_are_bounded(sandbox, tmp_path, place):
    code = """
        import itertools, sys
        try:
            for n in itertools.count():
                open(f"{sys.argv[1]}/{n}", "wb").write(bytes(4 << 20))
        except OSError as error:
            print(n <= 16, error.strerror)
        """
    assert run_python(sandbox, tmp_path, code, place).output == "True No space left on device\n"


@pytest.mark.parametrize("make", ["os.memfd_create('x')", "os.open(f'x{n}', os.O_RDWR | os.O_CREAT)"])
def test_files_without_a_name_are_counted(sandbox, tmp_path, make):
    code = f"""
        import itertools, os, time
        kept = []
        for n in itertools.count():
            kept.append({make})
            if os.path.exists(f"x{{n}}"):
                os.unlink(f"x{{n}}")
            os.write(kept[-1], bytes(4 << 20))
            time.sleep(0.02)
        """
    assert run_python(sandbox, tmp_path, code).cut == "disk"


def test_cpu_time_of_many_processes(sandbox, tmp_path):
    code = """
        import os, time
        while True:
            if os.fork() == 0:
                end = time.process_time() + 0.2
                while time.process_time() < end: pass
                os._exit(0)
            os.wait()
        """
    assert run_python(sandbox, tmp_path, code, limits=limits(cpu_seconds=2)).cut == "cpu"


DAEMON = """
    import os, sys, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for n in range(1000):
                open("beat", "w").write(str(n))
                time.sleep(0.02)
        os._exit(0)
    while not os.path.exists("beat"): time.sleep(0.01)
    """


def test_daemons_end_with_the_run(sandbox, tmp_path):
    done = run_python(sandbox, tmp_path, DAEMON)
    (tmp_path / "beat").unlink()  # nobody makes it anew
    time.sleep(0.2)

    assert done.exit_code == 0
    assert not (tmp_path / "beat").exists()


def test_daemons_end_with_the_process_that_ran_them(tmp_path):
    sandbox_or_skip("bubblewrap")
    (tmp_path / "inside").mkdir()
    code = (
        "import sys; from pathlib import Path; from sandboxes import *\n"
        "run_python(find_sandbox('bubblewrap'), Path(sys.argv[1]), sys.argv[2])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "inside"), DAEMON + "\n    time.sleep(1000)"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(command, env=environment) as runner:
        beat = tmp_path / "inside" / "beat"
        while not beat.exists():
            assert runner.poll() is None
            time.sleep(0.05)
        runner.kill()
    time.sleep(0.5)
    beat.unlink()
    time.sleep(0.2)

    assert not beat.exists()


def test_no_capability_and_no_way_to_one(sandbox, tmp_path):
    code = """
        import os, subprocess
        status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
        print({name: status[name].strip() for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")})
        for act in (lambda: os.setuid(0), lambda: os.chroot("/tmp"), lambda: os.setgroups([0])):
            try:
                act(); print("done")
            except OSError:
                pass
        print(subprocess.run(["unshare", "--user", "true"], capture_output=True).returncode != 0, os.getuid())
        """
    zero = "0" * 16
    names = {"CapPrm": zero, "CapEff": zero, "CapBnd": zero, "CapAmb": zero, "NoNewPrivs": "1"}
    assert run_python(sandbox, tmp_path, code).output == f"{names}\nTrue 1000\n"


def test_files_that_are_shared_with_others_are_read_only(sandbox, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "inside").mkdir()
    shared, linked = tmp_path / "cache" / "pack", tmp_path / "inside" / "pack"
    shared.write_bytes(b"kept")
    shared.chmod(0o444)
    os.link(shared, linked)
    code = """
        import os
        acts = [
            lambda: os.chmod("pack", 0o666), lambda: open("pack", "wb"), lambda: open("pack", "ab"),
            lambda: os.truncate("pack", 0), lambda: os.link("pack", "other"), lambda: os.unlink("pack"),
            lambda: os.rename("pack", "other"), lambda: os.utime("pack"),
            lambda: open(f"/proc/self/fd/{os.open('pack', os.O_RDONLY)}", "wb"),
        ]
        for n, act in enumerate(acts):
            try:
                act(); print("did", n)
            except OSError:
                pass
        print(open("pack").read())
        """
    before = shared.stat()
    done = run_python(sandbox, tmp_path / "inside", code)
    after = shared.stat()

    assert done.output == "kept\n"
    assert shared.read_bytes() == b"kept"
    assert (after.st_mode, after.st_uid, after.st_mtime_ns) == (
        before.st_mode,
        before.st_uid,
        before.st_mtime_ns,
    )


# Where it cannot be had, and what is wrong to ask for.


def test_without_bwrap(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(SandboxError, match=r"install bubblewrap .* or choose sandbox=\"subprocess\""):
        BubblewrapSandbox(at_once=1)


def test_where_namespaces_are_refused(monkeypatch, tmp_path):
    refusing = tmp_path / "bwrap"
    refusing.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo bubblewrap 0.8.0; exit; fi\n'
        "echo 'bwrap: No permissions to create new namespace' >&2; exit 1\n"
    )
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    with pytest.raises(
        InfrastructureError, match=r"No permissions to create new namespace.*trusted code only"
    ):
        BubblewrapSandbox(at_once=1)


def test_a_folder_that_is_not_there(any_sandbox, tmp_path):
    with pytest.raises((SandboxError, FileNotFoundError)):
        any_sandbox.run(["true"], tmp_path / "nowhere", limits=LIMITS)


def test_an_unknown_sandbox():
    with pytest.raises(UnknownNameError, match="Did you mean: `bubblewrap`"):
        find_sandbox("bubblewrp")


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Limits)])
def test_limits_are_positive(name):
    with pytest.raises(UsageError, match=f"{name} must be positive, and is 0"):
        Limits(**{name: 0})


@given(st.lists(st.binary(max_size=30)), st.integers(1, 60))
def test_kept_output_is_the_beginning_and_the_end(parts, limit):
    output = BoundedOutput(limit)
    for part in parts:
        output.add(part)
    whole = b"".join(parts)

    text = output.text()

    if len(whole) <= limit:
        assert text == whole.decode(errors="replace")
    else:
        head, tail = whole[: limit - limit // 2], whole[len(whole) - limit // 2 :]
        mark = f"\n[... {len(whole) - limit} bytes left out ...]\n"
        assert text == head.decode(errors="replace") + mark + tail.decode(errors="replace")
