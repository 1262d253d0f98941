"""Scripts run by a forked process behave as if Python had run them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from memaudit.workflow.warm_interpreter import run_script, write_executable

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
    code += "serve(pathlib.Path(sys.argv[1]), ['json', 'memaudit.common.io'])"
    server = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
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


def test_who_ends_the_client_ends_the_script(python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import pathlib, time\npathlib.Path('started').touch()\ntime.sleep(60)\n")
    client = subprocess.Popen([python, script], cwd=tmp_path)
    while not (tmp_path / "started").exists():
        time.sleep(0.05)
    client.send_signal(signal.SIGTERM)
    assert client.wait(timeout=20) == -signal.SIGTERM


def test_exit_codes_are_those_of_python(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for code, expected in (("sys.exit()", 0), ("sys.exit(4)", 4), ("sys.exit('why')", 1), ("pass", 0)):
        (tmp_path / "s.py").write_text(f"import sys\n{code}\n")
        assert run_script([str(tmp_path / "s.py")]) == expected
    assert capsys.readouterr().err == "why\n"
