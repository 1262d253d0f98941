"""Scripts run by a forked process behave as if Python had run them."""

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import psutil
import pytest

from memaudit.common.errors import AuditError
from memaudit.workflow.warm_interpreter import MODULES, run_script, write_executable

SCRIPT = """
import os, sys
print(os.getcwd(), os.environ["WORD"], sys.argv[1:], "json" in sys.modules, "memaudit" in sys.modules)
print(oct(os.umask(0)))
print("to stderr", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def python(tmp_path):
    """The executable of a warm interpreter that has imported little."""
    code = "import sys, pathlib; from memaudit.workflow.warm_interpreter import serve; "
    code += "serve(pathlib.Path(sys.argv[1]), int(sys.argv[2]), ['json', 'memaudit.common.io', 'numpy'])"
    server = subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(os.getpid())], process_group=0)
    while not (tmp_path / "socket").exists():
        assert server.poll() is None
        time.sleep(0.05)
    yield write_executable(tmp_path)
    server.kill()
    server.wait()


def test_folder_environment_umask_arguments_streams_and_exit_code_are_the_callers(python, tmp_path):
    script, folder = tmp_path / "script.py", tmp_path / "folder"
    script.write_text(SCRIPT)
    folder.mkdir()
    environment = {"WORD": "a word", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [python, script, "3", "x y"],
        cwd=folder,
        env=environment,
        umask=0o027,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stdout == f"{folder} a word ['3', 'x y'] True False\n0o27\n"
    assert done.stderr == "to stderr\n"


def test_modules_are_those_of_the_callers_pythonpath(python, tmp_path):
    (tmp_path / "library").mkdir()
    (tmp_path / "library/own.py").write_text("CODE = 3\n")
    (tmp_path / "script.py").write_text("import sys, own\nsys.exit(own.CODE)\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "library")}
    assert subprocess.run([python, tmp_path / "script.py"], env=environment, check=False).returncode == 3


@pytest.mark.parametrize("command", [["-m", "snakemake"], ["snakemake"], ["other"]])
def test_jobs_of_snakemake_alone_are_its(python, tmp_path, command):
    """How Snakemake finds the Python of its jobs, started as a module or by its own command."""
    for file in ("snakemake.py", "snakemake", "other"):
        (tmp_path / file).write_text("import sys\nprint(sys.executable)\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == (str(python) if "snakemake" in command else sys.executable)


def test_a_script_that_fails_or_is_killed_ends_as_it_would_alone(python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import os, signal, sys\nif sys.argv[1:]: os.kill(os.getpid(), signal.SIGKILL)\n1 / 0\n")
    done = subprocess.run([python, script], capture_output=True, text=True, check=False)
    assert (done.returncode, "ZeroDivisionError" in done.stderr) == (1, True)
    assert subprocess.run([python, script, "killed"], check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_who_ends_the_client_ends_the_script(python, tmp_path, number):
    client, script = sleeping(python, tmp_path)
    client.send_signal(number)
    assert client.wait(timeout=20) == -number
    until(lambda: not psutil.pid_exists(script))


def test_ctrl_c_reaches_a_script_once(python, tmp_path):
    """Its cleanup is not interrupted by a second one."""
    script = """
import os, pathlib, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process may ignore it
try:
    pathlib.Path("started").write_text(str(os.getpid()))
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(0.5)
    pathlib.Path("clean").touch()
"""
    client, process = sleeping(python, tmp_path, script)
    os.killpg(client.pid, signal.SIGINT)
    assert client.wait(timeout=20) == 0
    assert (tmp_path / "clean").exists()
    until(lambda: not psutil.pid_exists(process))


def test_it_ends_with_the_process_that_has_started_it(tmp_path):
    code = "import os, pathlib, subprocess, sys; from memaudit.workflow import warm_interpreter as w; w.MODULES = ();"
    code += "c = w.warm(pathlib.Path(sys.argv[1]), os.environ); c.__enter__(); print(os.getpid(), flush=True); input()"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    caller = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env=environment, **pipes)
    caller.stdout.readline()
    (server,) = psutil.Process(caller.pid).children()
    caller.kill()
    caller.wait()
    until(lambda: not server.is_running())


def test_a_job_whose_process_cannot_be_forked_any_more_says_so_in_one_line(python, tmp_path):
    (tmp_path / "socket").unlink()
    done = subprocess.run([python, tmp_path / "script.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("memaudit: the process that jobs are forked from has ended")


def test_scripts_draw_different_random_numbers_and_have_their_own_temporary_folder(python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import numpy, tempfile\nprint(numpy.random.rand(), tempfile.gettempdir())\n")
    (own := tmp_path / "own").mkdir()
    environment = os.environ | {"TMPDIR": str(own)}
    printed = [subprocess.check_output([python, script], env=environment, text=True).split() for _ in range(2)]
    assert printed[0][0] != printed[1][0]
    assert {folder for _, folder in printed} == {str(own)}


def test_what_is_to_be_done_at_the_end_is_done(python, tmp_path):
    (tmp_path / "script.py").write_text("import atexit\natexit.register(print, 'the end')\n")
    assert subprocess.check_output([python, tmp_path / "script.py"], text=True) == "the end\n"


def test_options_of_python_are_pythons(python):
    assert subprocess.check_output([python, "-c", "print(6 * 7)"], text=True) == "42\n"


def test_scripts_that_may_reach_the_hub_run_in_a_python_of_their_own(python, tmp_path):
    for name, modules in (("tmp1.fetch_model.py", "False"), ("tmp1.other.py", "True")):
        (tmp_path / name).write_text("import sys\nprint('numpy' in sys.modules)\n")
        assert subprocess.check_output([python, tmp_path / name], text=True).strip() == modules


def test_a_folder_whose_path_is_too_long_or_has_blanks_is_refused(tmp_path):
    for name in ("x" * 90, "with blanks"):
        (folder := tmp_path / name).mkdir()
        with pytest.raises(AuditError, match="let TMPDIR name a folder"):
            write_executable(folder)


def test_all_that_is_imported_for_jobs_is_there():
    for name in MODULES:
        assert find_spec(name), name


def sleeping(python, folder, text=None):
    """A client in a process group of its own, and the id of its script's process, which has started."""
    script, started = folder / "script.py", folder / "started"
    own = "import os, pathlib, time\npathlib.Path('started').write_text(str(os.getpid()))\ntime.sleep(60)\n"
    script.write_text(text or own)
    client = subprocess.Popen([python, script], cwd=folder, process_group=0)
    until(lambda: started.exists() and started.read_text())
    return client, int(started.read_text())


def until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_exit_codes_are_those_of_python(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for code, expected in (("sys.exit()", 0), ("sys.exit(4)", 4), ("sys.exit('why')", 1), ("pass", 0)):
        (tmp_path / "s.py").write_text(f"import sys\n{code}\n")
        assert run_script([str(tmp_path / "s.py")]) == expected
    assert capsys.readouterr().err == "why\n"
