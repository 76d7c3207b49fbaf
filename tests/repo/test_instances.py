"""Reading instances: every form gives the same ones, and what is wrong is said with its place."""

import json

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.errors import DataFileError, UsageError
from tool_envs.repo.instances import Instance, load_instances

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROW = {
    "instance_id": "acme__tools-12",
    "repo": "acme/tools",
    "base_commit": COMMIT,
    "problem_statement": "It breaks.\r\n\u2028Always.\n",
    "patch": "diff --git a/x b/x\r\n",
    "test_patch": "diff --git a/t b/t\n",
    "FAIL_TO_PASS": ["t.py::test_a[x y]"],
    "PASS_TO_PASS": [],
    "version": "1.10",
    "hints_text": "",
    "created_at": "2024-01-02T03:04:05Z",
    "environment_setup_commit": COMMIT[::-1],
    "difficulty": "<15 min fix",
    "split": "test",
}
INSTANCE = Instance(
    **{name: value for name, value in ROW.items() if name not in ("FAIL_TO_PASS", "PASS_TO_PASS")},
    fail_to_pass=("t.py::test_a[x y]",),
    pass_to_pass=(),
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
rows = st.fixed_dictionaries(
    {
        "instance_id": st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,20}", fullmatch=True),
        "repo": st.sampled_from(["a/b", "quill", "a.b/c-d"]),
        "base_commit": st.from_regex("[0-9a-f]{40}|[0-9a-f]{64}", fullmatch=True),
        "problem_statement": texts,
    },
    optional={
        "patch": texts,
        "test_patch": texts,
        "version": texts,
        "FAIL_TO_PASS": st.lists(texts, max_size=3) | st.none(),
        "PASS_TO_PASS": st.lists(texts, max_size=3) | st.none(),
        "hints_text": texts | st.none(),
        "image": texts,  # a column that is not read
    },
)


def write_lines(folder, rows, name="rows.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8", newline="")
    return path


def write_list(folder, rows):
    path = folder / "rows.json"
    path.write_text(json.dumps(rows))
    return path


def write_parquet(folder, rows):
    columns = sorted({name for row in rows for name in row})
    types = {name: pa.list_(pa.string()) if name.endswith("TO_PASS") else pa.string() for name in columns}
    pq.write_table(pa.Table.from_pylist(rows, pa.schema(list(types.items()))), folder / "rows.parquet")
    return folder / "rows.parquet"


def write_tasks(folder, rows, splits=("test",)):
    files = {"problem_statement": "problem_statement.md", "patch": "gold.patch", "test_patch": "test.patch"}
    root = folder / "tasks-of-ours"
    root.mkdir()
    (root / "sweb.yaml").write_text(yaml.safe_dump({"datasets": ["acme/tasks"], "splits": list(splits)}))
    for row in rows:
        task = root / "tasks" / row["instance_id"]
        task.mkdir(parents=True)
        texts = {files[name]: row[name] for name in files if name in row}
        tests = {name: row[name] for name in row if name.endswith("TO_PASS")}
        short = {"split": "test"} | {name: row[name] for name in row if name not in files | tests}
        texts |= {"task.yaml": yaml.safe_dump(short), "tests.json": json.dumps(tests)}
        for name, text in texts.items():
            (task / name).write_text(text, "utf-8", newline="")
    return root


@pytest.mark.parametrize("write", [write_lines, write_list, write_parquet, write_tasks])
def test_every_form_gives_the_same_instances(write, tmp_path):
    path = write(tmp_path, [ROW, ROW | {"instance_id": "acme__tools-9", "FAIL_TO_PASS": None}])

    loaded = {instance.instance_id: instance for instance in load_instances(path)}

    assert loaded["acme__tools-12"] == INSTANCE
    assert loaded["acme__tools-9"] == msgspec.structs.replace(
        INSTANCE, instance_id="acme__tools-9", fail_to_pass=None
    )
    assert [loaded[name].has_tests for name in ("acme__tools-12", "acme__tools-9")] == [True, False]


@given(rows=st.lists(rows, min_size=1, max_size=3, unique_by=lambda row: row["instance_id"]))
def test_lists_and_their_json_texts_are_the_same(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    encoded = [
        {name: json.dumps(value) if isinstance(value, list) else value for name, value in row.items()}
        for row in rows
    ]

    loaded = load_instances(write_list(folder, rows))

    assert (
        loaded == load_instances(write_lines(folder, encoded)) == load_instances(write_parquet(folder, rows))
    )
    for instance, row in zip(loaded, rows, strict=True):
        stated = row.get("FAIL_TO_PASS")
        assert instance.fail_to_pass == (None if stated is None else tuple(stated))
        assert msgspec.convert(json.loads(msgspec.json.encode(instance)), Instance) == instance


def test_blank_lines_are_no_rows(tmp_path):
    path = write_lines(tmp_path, [ROW])
    path.write_bytes(b"\n" + path.read_bytes() + b" \r\n")

    assert load_instances(path) == (INSTANCE,)


def test_only_published_splits_of_tasks_are_read(tmp_path):
    others = [
        ROW | {"instance_id": f"acme__tools-{split}", "split": split} for split in ("dev", "deprecated")
    ]
    root = write_tasks(tmp_path, [ROW, *others], ["test", "dev"])

    assert [(one.instance_id, one.split) for one in load_instances(root)] == [
        ("acme__tools-12", "test"),
        ("acme__tools-dev", "dev"),
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"instance_id": None}, "missing required field `instance_id`"),
        ({"instance_id": 12}, r"Expected `str`, got `int` - at `\$.instance_id`"),
        ({"instance_id": "../../etc/passwd"}, "instance_id: expected up to 200 letters"),
        ({"instance_id": ".."}, "instance_id: expected"),
        ({"instance_id": "a/b"}, "instance_id: expected"),
        ({"instance_id": "a\n"}, "instance_id: expected"),
        ({"instance_id": "-rf"}, "instance_id: expected"),
        ({"instance_id": ""}, "instance_id: expected"),
        ({"instance_id": "a" * 201}, "instance_id: expected"),
        ({"instance_id": "ä"}, "instance_id: expected"),
        ({"repo": "../tools"}, "repo: expected `owner/name`"),
        ({"repo": "/tools"}, "repo: expected"),
        ({"repo": "a/b/c"}, "repo: expected"),
        ({"repo": "https://host/a"}, "repo: expected"),
        ({"base_commit": "main"}, "base_commit: expected all 40 or 64"),
        ({"base_commit": COMMIT[:12]}, "base_commit: expected"),
        ({"base_commit": COMMIT.upper()}, "base_commit: expected"),
        ({"base_commit": f"{COMMIT}\n"}, "base_commit: expected"),
        ({"problem_statement": None}, "missing required field `problem_statement`"),
        ({"version": 1.1}, r"Expected `str`, got `float` - at `\$.version`"),
        ({"FAIL_TO_PASS": "test_a"}, "FAIL_TO_PASS: expected a list of test ids or the JSON text of one"),
        ({"FAIL_TO_PASS": ""}, "FAIL_TO_PASS: expected"),
        ({"PASS_TO_PASS": '{"a": 1}'}, "PASS_TO_PASS: expected"),
        ({"PASS_TO_PASS": [1]}, r"Expected `str`, got `int` - at `\$.PASS_TO_PASS\[0\]`"),
        ({"patch": "\ud800"}, "patch: it is not valid Unicode text"),
        ({"FAIL_TO_PASS": '["\\ud800"]'}, "FAIL_TO_PASS: it is not valid Unicode text"),
    ],
)
def test_what_is_no_instance_is_refused_with_its_place(change, problem, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(ROW)}\n\n{json.dumps(ROW | {'instance_id': 'other'} | change)}\n")

    with pytest.raises(DataFileError, match=problem) as caught:
        load_instances(path)

    assert (caught.value.path, caught.value.line) == (str(path), 3)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.jsonl", '{"a": 1', r"a.jsonl, line 1: not JSON"),
        ("a.jsonl", "\n[]", r"a.jsonl, line 2: expected an object of columns"),
        ("a.jsonl", '{"repo": "a", "repo": "b"}', r"line 1: not JSON: the key \"repo\" stands twice"),
        ("a.jsonl", "", "holds no instance"),
        ("a.json", "{}", r"expected a list of rows; a file with a row on each line is named \*.jsonl"),
        ("a.json", "[3]", r"a.json, row 1: expected an object of columns"),
        ("a.json", "[" * 100_000, "not JSON"),
        ("a.parquet", "PAR1", "no whole Parquet file"),
    ],
)
def test_damaged_files_are_refused(name, content, problem, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataFileError, match=problem):
        load_instances(tmp_path / name)


@pytest.mark.parametrize("name", ["none.jsonl", "none.json", "none.parquet"])
def test_missing_files_are_refused(name, tmp_path):
    with pytest.raises(DataFileError, match=f"{name}: cannot be read"):
        load_instances(tmp_path / name)


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"read from \*.jsonl, \*.json, \*.parquet or a folder .* rows.csv"):
        load_instances(tmp_path / "rows.csv")


@pytest.mark.parametrize("write", [write_lines, write_list, write_parquet])
def test_an_id_stands_once(write, tmp_path):
    path = write(tmp_path, [ROW, ROW | {"instance_id": "other"}, ROW])

    with pytest.raises(DataFileError, match=r"acme__tools-12 stands already at .*(line|row) 1$") as caught:
        load_instances(path)

    assert caught.value.line == 3 or caught.value.path.endswith("row 3")


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("sweb.yaml", None, "sweb.yaml: cannot be read"),
        ("sweb.yaml", "splits: test", "splits: expected a list"),
        ("sweb.yaml", "- test", "expected a mapping of columns"),
        ("task.yaml", None, "there is none"),
        ("task.yaml", "a: [", r"task.yaml, line \d+: not YAML"),
        ("task.yaml", "a: !!python/object/apply:os.getpid []", r"task.yaml, line 1: not YAML"),
        ("task.yaml", "instance_id: other", "instance_id: expected acme__tools-12, the folder's name"),
        ("task.yaml", "instance_id: acme__tools-12", "split: expected the name of one"),
        ("tests.json", "[]", "expected an object with FAIL_TO_PASS"),
        ("tests.json", "{", "not JSON"),
        ("problem_statement.md", None, "missing required field `problem_statement`"),
        ("gold.patch", b"\xff", "gold.patch: not UTF-8"),
        ("test_assets/expected.png", b"\x89PNG", "binary files of tests"),
    ],
)
def test_damaged_tasks_are_refused(file, content, problem, tmp_path):
    root = write_tasks(tmp_path, [ROW])
    path = root / file if file == "sweb.yaml" else root / "tasks" / "acme__tools-12" / file
    path.parent.mkdir(exist_ok=True)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(DataFileError, match=problem):
        load_instances(root)


def test_numbers_in_yaml_are_not_guessed_to_be_texts(tmp_path):
    root = write_tasks(tmp_path, [ROW])
    path = root / "tasks" / "acme__tools-12" / "task.yaml"
    path.write_text(path.read_text().replace("'1.10'", "1.10"))

    with pytest.raises(DataFileError, match=r"Expected `str`, got `float` - at `\$.version`"):
        load_instances(root)


def test_tests_that_are_not_stated_are_not_an_empty_list(tmp_path):
    root = write_tasks(tmp_path, [ROW])
    (root / "tasks" / "acme__tools-12" / "tests.json").unlink()

    (instance,) = load_instances(root)

    assert (instance.fail_to_pass, instance.pass_to_pass, instance.has_tests) == (None, None, False)


@pytest.mark.parametrize(
    "change",
    [
        {"repo": "acme/other"},
        {"base_commit": COMMIT[::-1]},
        {"problem_statement": "x"},
        {"patch": "x"},
        {"test_patch": "x"},
        {"fail_to_pass": ()},
        {"pass_to_pass": None},
        {"pass_to_pass": ("a",)},
    ],
)
def test_digest_covers_what_decides(change):
    assert msgspec.structs.replace(INSTANCE, **change).digest != INSTANCE.digest


def test_digest_does_not_cover_what_is_said_about_it():
    other = msgspec.structs.replace(INSTANCE, instance_id="x", hints_text="x", difficulty="x", split="x")

    assert other.digest == INSTANCE.digest
    assert INSTANCE.digest == "d6d616372c000738143042633e94f92eb8b10f155cbd226f6a2600b7cbb8293e"
