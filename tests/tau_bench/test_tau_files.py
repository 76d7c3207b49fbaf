"""Loading the sample, folders of the plain layout and checkouts; and what is said about damaged ones."""

import json
import re
import shutil

import pytest
from tau_calls import answer
from tau_checkout import CANCEL, TASK_MODULE, THINK, THINK_MODULE, make_checkout

from tool_envs.database import Database
from tool_envs.errors import DataFileError, UnknownNameError
from tool_envs.tau_bench.files import SAMPLE, load
from tool_envs.tau_bench.grading import Grader
from tool_envs.tau_bench.retail import RETAIL_TOOLS

TASKS = "tasks/retail_test.json"
ORDERS = "databases/retail/orders.json"
WRITES = [name for name in RETAIL_TOOLS if name.startswith(("cancel", "exchange", "modify", "return"))]


def gold(files, task):
    database = Database(files.data)
    for call in task.actions:
        assert not answer(database, call).startswith("Error"), call
    return database


@pytest.mark.parametrize(("split", "count"), [("test", 10), ("dev", 3)])
def test_sample_tasks_are_solved_by_gold_and_not_by_silence(split, count):
    files = load(None, "retail", split)
    grader = Grader(RETAIL_TOOLS)

    assert [task.id for task in files.tasks] == [f"retail/{split}/{index}" for index in range(count)]
    assert all(grader.grade(task, gold(files, task), task.facts).terminal == 1.0 for task in files.tasks)
    assert all(grader.grade(task, Database(files.data), []).terminal == 0.0 for task in files.tasks)


def test_sample_covers_every_write_and_status(sample):
    used = {call.name for task in sample.tasks for call in task.actions}
    statuses = {order["status"] for order in sample.data.tables["orders"].values()}

    assert used.issuperset(WRITES)
    assert statuses == {"pending", "processed", "delivered", "cancelled"}
    assert all({call.name for call in task.actions} & set(WRITES) for task in sample.tasks)
    assert any(task.facts for task in sample.tasks)


def test_sample_data_are_consistent(sample):
    tables = sample.data.tables
    for order_id, order in tables["orders"].items():
        user = tables["users"][order["user_id"]]
        prices = [item["price"] for item in order["items"]]

        assert order_id in user["orders"]
        assert order["payment_history"][0]["amount"] == round(sum(prices), 2)
        assert {payment["payment_method_id"] for payment in order["payment_history"]} <= set(
            user["payment_methods"]
        )
        for item in order["items"]:
            variant = tables["products"][item["product_id"]]["variants"][item["item_id"]]
            assert (item["price"], item["options"]) == (variant["price"], variant["options"])


def test_equal_files_are_parsed_once(tmp_path):
    shutil.copytree(SAMPLE, tmp_path / "copy")

    one, two = load(None, "retail", "test"), load(tmp_path / "copy", "retail", "dev")

    assert one.data is two.data
    assert re.fullmatch("[0-9a-f]{64}", one.data.digest)


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(SAMPLE, tmp_path / "tau")


def edit(path, change):
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def refused(path, message, domain="retail"):
    with pytest.raises(DataFileError, match=re.escape(message)):
        load(path, domain, "test")


def test_other_data_have_another_digest(folder):
    edit(folder / ORDERS, lambda orders: orders["#W1048273"].update(status="processed"))

    assert load(folder, "retail", "test").data.digest != load(None, "retail", "test").data.digest


def test_names_that_do_not_exist():
    with pytest.raises(UnknownNameError, match=r"Unknown domain 'retial'\. Did you mean: `retail`\?"):
        load(None, "retial", "test")
    with pytest.raises(
        UnknownNameError, match=r"Unknown split 'tets'\. Did you mean: `test`\? Known: dev, test"
    ):
        load(None, "retail", "tets")
    with pytest.raises(UnknownNameError, match="Known: dev, test"):
        load(None, "retail", "../retail_test")


def test_paths_that_are_no_task_set(tmp_path):
    (tmp_path / "file").touch()

    refused(tmp_path / "none", "no such folder")
    refused(tmp_path / "file", "expected a folder, found a file")
    refused(tmp_path, "expected folders databases/ and tasks/, or a tau-bench checkout")


@pytest.mark.parametrize("table", ["orders", "products", "users"])
def test_a_missing_table(folder, table):
    (folder / f"databases/retail/{table}.json").unlink()

    refused(folder, f"{table}.json: cannot be read: No such file or directory")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (TASKS, '{"tasks": [\n1,\n}', "retail_test.json, line 3: not JSON: "),
        (ORDERS, '{\n"#W1": {"price": NaN}}', "orders.json: not JSON: NaN is no JSON number"),
        (ORDERS, "[" * 100_000, "orders.json: nested too deeply"),
        (ORDERS, "[]", 'orders.json: $: [] is not of type "object"'),
        (TASKS, "[]", 'retail_test.json: $: [] is not of type "object"'),
        (TASKS, '{"tasks": []}', "retail_test.json: $.tasks: [] has less than 1 item"),
    ],
)
def test_broken_json(folder, name, text, message):
    (folder / name).write_text(text)

    refused(folder, message)


def test_bytes_that_are_no_text(folder):
    (folder / TASKS).write_bytes(b'{"tasks":\n"\xff"}')

    refused(folder, "retail_test.json, line 2: not UTF-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda tasks: tasks[3]["actions"][0].update(name=5),
            '$.tasks[3].actions[0].name: 5 is not of type "string"',
        ),
        (
            lambda tasks: tasks[2]["actions"][1].pop("arguments"),
            '$.tasks[2].actions[1]: "arguments" is a required',
        ),
        (lambda tasks: tasks[1].update(outputs="4.1"), '$.tasks[1].outputs: "4.1" is not of type "array"'),
        (lambda tasks: tasks[0].pop("instruction"), '$.tasks[0]: "instruction" is a required property'),
        (lambda tasks: tasks[4]["actions"][0]["arguments"].update(x=2**60), "$.tasks[4]: "),
    ],
)
def test_a_damaged_task(folder, change, message):
    edit(folder / TASKS, lambda value: change(value["tasks"]))

    refused(folder, message)


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        (
            "orders",
            lambda t: t["#W1048273"]["items"][0].update(price="5"),
            "$['#W1048273'].items[0].price: \"5\" is",
        ),
        (
            "orders",
            lambda t: t["#W1048273"].pop("status"),
            "$['#W1048273']: \"status\" is a required property",
        ),
        (
            "products",
            lambda t: t["4410962873"]["variants"]["1837206495"].pop("available"),
            '"available" is a',
        ),
        (
            "users",
            lambda t: t["lena_fischer_2219"].update(email=None),
            "$.lena_fischer_2219.email: null is not of",
        ),
        (
            "users",
            lambda t: t["lena_fischer_2219"]["payment_methods"]["gift_card_2087463"].pop("balance"),
            '$.lena_fischer_2219.payment_methods.gift_card_2087463: "balance" is a required property',
        ),
    ],
)
def test_a_damaged_record(folder, table, change, message):
    path = folder / f"databases/retail/{table}.json"
    edit(path, change)

    refused(folder, f"{table}.json: ")
    refused(folder, message)


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        (
            "flights",
            lambda t: t["HAT901"]["dates"]["2024-05-20"].pop("prices"),
            "$.HAT901.dates['2024-05-20']: \"prices\" is a required property",
        ),
        ("flights", lambda t: t["HAT901"].update(origin=None), "$.HAT901.origin: null is not of type"),
        (
            "reservations",
            lambda t: t["QX41LM"]["payment_history"][0].update(amount="5"),
            '$.QX41LM.payment_history[0].amount: "5" is not of type "number"',
        ),
        (
            "users",
            lambda t: t["ruth_adeyemi_7042"]["payment_methods"]["certificate_4416093"].pop("amount"),
            '$.ruth_adeyemi_7042.payment_methods.certificate_4416093: "amount" is a required property',
        ),
    ],
)
def test_a_damaged_record_of_the_airline(folder, table, change, message):
    path = folder / f"databases/airline/{table}.json"
    edit(path, change)

    refused(folder, f"{table}.json: {message}", domain="airline")


def test_an_airline_checkout_is_read(tmp_path):
    folder = tmp_path / "tau_bench" / "envs" / "airline"
    shutil.copytree(SAMPLE / "databases" / "airline", folder / "data")
    (folder / "tools").mkdir()
    (folder / "wiki.md").write_text("Fly safely.")
    (folder / "tasks_test.py").write_text(TASK_MODULE.replace("TASKS_TEST", "TASKS"))
    (folder / "tools" / "__init__.py").write_text("from .think import Think\nALL_TOOLS = [Think]\n")
    (folder / "tools" / "think.py").write_text(THINK_MODULE)
    files = load(tmp_path, "airline", "test")

    assert (files.interface, files.policy, files.tools) == ("upstream", "Fly safely.", [THINK])
    assert [task.id for task in files.tasks] == ["airline/test/0"]
    assert files.data is load(None, "airline", "test").data


@pytest.fixture
def checkout(tmp_path):
    return make_checkout(tmp_path / "checkout")


@pytest.mark.parametrize("part", ["", "tau_bench"])
def test_a_checkout_is_read_and_not_run(checkout, part):
    files = load(checkout / part, "retail", "test")
    task = files.tasks[0]

    assert (files.interface, files.policy, files.tools) == (
        "upstream",
        "# Rules\nBe kind.\n",
        [THINK, CANCEL],
    )
    assert (task.id, task.goal["instruction"], task.facts) == ("retail/test/0", "You want nothing.", ("a",))
    assert task.actions[0].arguments == {"thought": "hm", "level": [-1, 2.5, True, None]}
    assert files.data is load(None, "retail", "test").data


def test_a_split_that_a_checkout_does_not_have(checkout):
    with pytest.raises(UnknownNameError, match="Known: test"):
        load(checkout, "retail", "train")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("outputs=", "outputs:", "tasks_test.py, line 13: not Python: "),
        ('"nadia_okafor_4127"', "input()", "tasks_test.py, line 7: expected a literal; found `input()`"),
        ('"hm"', 'f"{1}"', "tasks_test.py, line 11: expected a literal; found `f'{1}'`"),
        ('"hm"', "1j", "tasks_test.py, line 11: expected a literal; found `1j`"),
        ('"hm"', '"a" + 1', "tasks_test.py, line 11: expected a literal; found `'a' + 1`"),
        ('"level"', "3", "tasks_test.py, line 11: expected a dict whose keys are texts; found `3`"),
        (
            '"level": [-1, 2.5, True, None]',
            "**{}",
            "tasks_test.py, line 11: expected a dict whose keys are texts",
        ),
        ('name="think"', '"think"', "line 11: expected Action(...) with arguments by name only"),
        ("Action(", "evil(", "line 11: expected a call Action(...); found `evil("),
        ("actions=[", "actions=2 * [", "line 10: expected a list [Action(...), ...]; found `2 * ["),
        ('outputs=["a"]', 'outputs="a"', 'line 5: $.tasks[0].outputs: "a" is not of type "array"'),
        ('        outputs=["a"],\n', "", 'line 5: $.tasks[0]: "outputs" is a required property'),
        (
            "TASKS_TEST = [",
            "import os\nos.x()\nTASKS_TEST = [",
            "line 5: expected imports and one list TASKS",
        ),
        ("TASKS_TEST = [", "TASKS_A = []\nTASKS_TEST = [", "line 5: expected imports and one list TASKS"),
        ("TASKS_TEST = [", "OTHER = [", "line 4: expected imports and one list TASKS"),
        ("hm", "h\0m", "tasks_test.py"),
        ('"hm"', "-" * 50_000 + "1", "tasks_test.py: nested too deeply"),
    ],
)
def test_task_modules_that_are_no_plain_data(checkout, old, new, message):
    assert old in TASK_MODULE
    (checkout / "tau_bench/envs/retail/tasks_test.py").write_text(TASK_MODULE.replace(old, new))

    refused(checkout, message)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\0"', "\0"),
        ("[" * 50 + "7" + "]" * 50, json.loads("[" * 50 + "7" + "]" * 50)),
        ("+".join(['"a"'] * 300), "a" * 300),
    ],
)
def test_odd_literals_are_read(checkout, text, value):
    path = checkout / "tau_bench/envs/retail/tasks_test.py"
    path.write_text(TASK_MODULE.replace('"hm"', text))

    assert load(checkout, "retail", "test").tasks[0].actions[0].arguments["thought"] == value


@pytest.mark.parametrize(
    ("module", "old", "new", "message"),
    [
        ("think", '"object"}}}', "str}}}", "think.py, line 10: expected a literal; found `str`"),
        (
            "think",
            "return {",
            "x = 1\n        return {",
            "think.py, line 7: expected get_info() that only returns",
        ),
        ("think", "get_info", "info", "think.py: expected `def get_info`, found none"),
        ("think", "class Think(", "class Thin(", "think.py: expected `class Think`, found none"),
        ("think", '"name": "think"', '"name": 1', '$.function.name: 1 is not of type "string"'),
        (
            "__init__",
            "    Cancel,",
            "    Cancel, Other,",
            "__init__.py, line 7: expected the name of a class imported",
        ),
        (
            "__init__",
            "    Cancel,",
            "    Cancel(),",
            "__init__.py, line 7: expected a class name; found `Cancel()`",
        ),
        ("__init__", "ALL_TOOLS", "SOME", "__init__.py: expected one list ALL_TOOLS = [...], found 0"),
        ("__init__", "from .think", "from ..think", "expected an import from a module of this package"),
        ("__init__", "from .think", "from os.path", "expected an import from a module of this package"),
    ],
)
def test_tool_modules_that_are_no_plain_data(checkout, module, old, new, message):
    path = checkout / f"tau_bench/envs/retail/tools/{module}.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))

    refused(checkout, message)


@pytest.mark.parametrize("name", ["wiki.md", "tools/think.py", "tools/__init__.py", "data/users.json"])
def test_files_that_a_checkout_lacks(checkout, name):
    (checkout / "tau_bench/envs/retail" / name).unlink()

    refused(checkout, f"{name}: cannot be read: No such file or directory")
