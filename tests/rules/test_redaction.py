from __future__ import annotations

import json
import re
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightschool.rules.redaction import Redactor
from nightschool.rules.secret_shapes import SHAPES, is_secret_name

KEY = b"a key of the tests, 32 bytes long"
STAND_IN = re.compile(r"\[secret:[a-z]+:[0-9a-f]{6}\]")
HEX = "0123456789abcdef" * 8
MIXED = "aB3xK9mQ2zT7wL5r" * 8
UPPER = "A3XK9MQ2ZT7WL5RB" * 8


def redactor() -> Redactor:
    return Redactor(KEY)


def body(allowed: str, length: int) -> str:
    """Planted text that a shape's class of characters allows."""
    source = MIXED if "a-z" in allowed else (UPPER if "A-Z" in allowed else HEX)
    return source[:length]


PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn\n" * 3
    + "abcd=\n-----END RSA PRIVATE KEY-----"
)
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PLANTED: list[tuple[str, str, str]] = [
    # (text, what must be gone, what must stay)
    (f"key:\n{PEM}\nend", "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn", "end"),
    (PEM.rpartition("-----END")[0], "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn", ""),
    (PEM.partition("\n")[2] + "\nend", "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn", "end"),
    (json.dumps({"k": PEM}), "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn", '{"k": "'),
    (json.dumps(json.dumps({"k": json.dumps(PEM)})), "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn", "k"),
    (json.dumps(f"🙂{JWT}."), "dozjgNryP4J3jVmNHl0w5N", "\\ude42"),
    ("\n".join(f"{n}\t{line}" for n, line in enumerate(PEM.split("\n"), 1)), "MIIEowIBAAKCAQEA", "1\t"),
    (f"token is in {JWT} here", "dozjgNryP4J3jVmNHl0w5N", "here"),
    ("Authorization: Bearer abcDEF123456789xyz", "abcDEF123456789xyz", "Authorization: Bearer "),
    ("curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZA==' x", "dXNlcjpwYXNzd29yZA", "' x"),
    ('-H "Cookie: session=abcd1234efgh; theme=dark" x', "abcd1234efgh", '" x'),
    ("Cookie: sid=abcd1234efgh, then API_KEY='q1w2e3r4t5y6'", "q1w2e3r4t5y6", " then API_KEY='"),
    ("Set-Cookie: sid=s3cr3tvalue; HttpOnly", "s3cr3tvalue", "Set-Cookie: "),
    ("https://bob:hunter2@example.org/x", "hunter2", "https://bob:"),
    ("postgres://app:s3cr@t9@db.host:5432/x", "s3cr@t9", "@db.host:5432/x"),
    ("redis://:p4ssphrase@cache:6379/0", "p4ssphrase", "@cache:6379/0"),
    ("mongodb+srv://u:Zx81spectrum@c0.mongodb.net", "Zx81spectrum", "@c0.mongodb.net"),
    ("https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/2", "0123456789abcdef", "@o1."),
    ("export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzz", "wJalrXUtnFEMI", "export AWS_SECRET"),
    ("DB_PASSWORD=hunter2xyz\nPORT=80", "hunter2xyz", "\nPORT=80"),
    ("DB_PASSWORD=correcthorse\n", "correcthorse", "DB_PASSWORD="),
    ("API_KEY='q1w2e3r4t5y6'", "q1w2e3r4t5y6", "API_KEY='"),
    ('{"password": "hunter", "user": "bob"}', "hunter", '"user": "bob"'),
    (json.dumps({"arguments": json.dumps({"client_secret": "q1w2e3r4t5"})}), "q1w2e3r4t5", "client_secret"),
    (json.dumps(json.dumps(json.dumps({"authToken": "q1w2e3r4t5"}))), "q1w2e3r4t5", "authToken"),
    ("password: hunter2xyz # yaml", "hunter2xyz", "# yaml"),
    ("my password is swordfish99, please", "swordfish99", ", please"),
    ("mysql --password hunter2xyz db", "hunter2xyz", " db"),
    ("curl -u bob:pa55word http://x", "pa55word", "curl -u bob:"),
    ("https://h/p?access_token=q1w2e3r4t5&x=1", "q1w2e3r4t5", "&x=1"),
    ("https://a.blob.core.windows.net/c?sv=1&sig=aB3xK9mQ2zT7wL5raB3x%3D", "aB3xK9mQ2z", "?sv=1&sig="),
    ("AccountName=x;AccountKey=aB3xK9mQ2zT7wL5raB3xK9==;End", "aB3xK9mQ2zT7", ";End"),
    ("https://hooks.slack.com/services/T0000AAAA/B0000BBBB/aB3xK9mQ2zT7wL5r", "aB3xK9mQ2zT7", "https://"),
    ("bot 123456789:AAabcdefghijklmnopqrstuvwxyz1234567 up", "AAabcdefghij", " up"),
    ("MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.abcdefghijklmnopqrstuvwxyz0", "abcdefghijklmnopqrstuvwxyz0", ""),
    ("mail jane.doe+x@corp.io, please", "jane.doe", ", please"),
    ("card 4111 1111 1111 1111 2030", "4111 1111", " 2030"),
    ("card 378282246310005.", "378282246310005", "."),
    ("Passwort: hunter2xyz # in einer fremden Sprache", "hunter2xyz", "Passwort: "),
    ("<password>hunter2xyz</password>", "hunter2xyz", "</password>"),
    ("x = {'api_key' => 'q1w2e3r4t5'}", "q1w2e3r4t5", "'}"),
    ("DB_PASS=sommerwind\nPORT=80", "sommerwind", "\nPORT=80"),
    ("export DB_PASS='correcthorse'", "correcthorse", "export DB_PASS='"),
    ('SMTP_PASS="blau grau 7x"', "blau grau", 'SMTP_PASS="'),
    ("PASS=kx7wQ2pL", "kx7wQ2pL", "PASS="),
    ("user: app\npass: kx7wQ2pL\n", "kx7wQ2pL", "\npass: "),
    ("dbPass = 'sommerwind'", "sommerwind", "dbPass = '"),
    ("passwd=kx7wQ2pL", "kx7wQ2pL", "passwd="),
    ("Server=x;Uid=app;Pwd=kx7wQ2pL;", "kx7wQ2pL", "Uid=app;Pwd="),
    ("le mot de passe : kx7wQ2pL, merci", "kx7wQ2pL", ", merci"),
    ("Mot de passe est kx7wQ2pL", "kx7wQ2pL", "Mot de passe est "),
    ("la contraseña: kx7wQ2pL y nada más", "kx7wQ2pL", " y nada más"),
    ("CONTRASEÑA es kx7wQ2pL", "kx7wQ2pL", "CONTRASEÑA es "),
    ("das Passwort lautet kx7wQ2pL.", "kx7wQ2pL", "das Passwort lautet "),
    ("Passwort ist kx7wQ2pL", "kx7wQ2pL", "Passwort ist "),
    ("wachtwoord: kx7wQ2pL", "kx7wQ2pL", "wachtwoord: "),
    ("пароль: kx7wQ2pL", "kx7wQ2pL", "пароль: "),
    ("lösenord: kx7wQ2pL", "kx7wQ2pL", "lösenord: "),
    ("sshpass -p sommerwind ssh bob@host.intern", "sommerwind", " ssh "),
    ("sshpass -psommerwind ssh x", "sommerwind", "sshpass -p"),
    ("sshpass -p 'blau7 grau' ssh x", "blau7", " ssh x"),
    ("mysql -u app -psommerwind shop", "sommerwind", "mysql -u app -p"),
    ("mysqldump --password=sommer7wind shop", "sommer7wind", "--password="),
    ("redis-cli -h cache -a sommerwind ping", "sommerwind", " ping"),
    ("docker login -u bob -p sommerwind ghcr.io", "sommerwind", " ghcr.io"),
    ("ldapsearch -D cn=x -w sommerwind", "sommerwind", "-w "),
    ("curl -ubob:sommerwind http://x", "sommerwind", "curl -ubob:"),
    ("the API key is Rot4kiwi99x", "Rot4kiwi99x", "the API key is "),
    ("use token Rot3Kiwi88 for it", "Rot3Kiwi88", " for it"),
    ("pay to DE89 3704 0044 0532 0130 00 please", "3704 0044", " please"),
    ("IBAN: GB29NWBK60161331926819.", "NWBK60161331926819", "IBAN: "),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI", "AWS_SECRET"),
    ("DB_PASSWORD=changeme2024!", "changeme2024", "DB_PASSWORD="),
    ("password: My-Secret-P4ss", "Secret-P4ss", "password: "),
]


@pytest.mark.parametrize(("text", "gone", "stays"), PLANTED)
def test_planted_secret_goes_and_the_rest_stays(text: str, gone: str, stays: str) -> None:
    """B52: a secret of each kind is replaced by a stand-in and the text around it stays usable."""
    redacted = redactor()(text)
    assert gone not in redacted
    assert stays in redacted
    assert STAND_IN.search(redacted)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.prefix)
@pytest.mark.parametrize(
    "around", ["{}", "x={} y", '"{}"', "first\\n{}\\n", "é{}.", "\\u00e9{}.", "n{}\\n", "u00e9{}."]
)
def test_each_shape_of_the_table_is_found(shape: Any, around: str) -> None:
    """Each provider's token is found bare, quoted, assigned, behind an escaped line end and behind a letter
    that is not ASCII, escaped or not; also where the text was cut within that escape."""
    token = shape.prefix + body(shape.body, max(shape.least, 36))
    redacted = redactor()(around.format(token))
    assert body(shape.body, shape.least) not in redacted
    assert STAND_IN.search(redacted)


PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kg=="

CLEAN = [
    "Never print the password, and keep the API key out of the log.",
    "password = get_password()",
    "token: str",
    "password: SecretStr = Field(min_length=8)",
    "def login(user: str, password: str, token: Optional[str] = None) -> None:",
    "api_key = os.environ['OPENAI_API_KEY']",
    "const token = process.env.GITHUB_TOKEN;",
    "self.password = password",
    "The token count is 4096 and max_tokens: 32000.",
    '{"input_tokens": 12345678, "output_tokens": 4242, "tokenizer": "cl100k_base"}',
    "risk-assessment-framework task-management-of-desks sk-learn ask-me-anything-about-this",
    "Set OPENAI_API_KEY=your-api-key or OPENAI_API_KEY=<key> or $OPENAI_API_KEY or sk-...",
    "DB_PASSWORD=${DB_PASSWORD}\nSECRET=changeme\nTOKEN=xxxxxxxx",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    PNG,
    "git clone git@github.com:acme/shop.git && open https://example.org:8080/a@b",
    "npm i lodash@4.17.21 @types/node logo@2x.png actions/checkout@v4",
    "@pytest.mark.parametrize and x = a @ b.T",
    "Co-Authored-By: Claude <noreply@anthropic.com>",
    "timestamps 1700000000000 2024-01-01 4503599627370496 0.4111111111111111",
    "A private key begins with -----BEGIN PRIVATE KEY----- and ends with a like line.",
    "postgres://user:password@localhost/db",
    "the secret is to rest; the password is required",
    "docker run -u 1000:1000 x; sort -u a:b",
    "docker login --password-stdin ghcr.io",
    "secretName: my-secret, token_url: https://auth.example.org/token",
    "Bearer authentication is used. Authorization: Basic authentication",
    "PWD=/home/sam/work OLDPWD=/home/sam cd $PWD",
    "Tests pass: 34, fail: 2; PASS=34 FAIL=2; all tests pass: yes; bypass: a1b2c3d4e5",
    "--- PASS: TestReviewTrail8Totals (0.00s)\n=== RUN TestReviewTrail8Totals\n  --pass:#1a7f37;",
    "First pass: read, second pass: write. They pass 12 arguments; passes: 3a",
    "the password is required, das Passwort ist nicht sicher, le mot de passe est obligatoire",
    "la contraseña es obligatoria; el token es demasiado corto; wachtwoord: verplicht",
    "Never pass a password on the command line: mysql -p asks for it, sshpass -p is worse.",
    "docker run -p 8080:80 -p8443:443 -w /app x; ssh -p 2222 host; mkdir -p /srv/data; cp -a one two",
    "psql -p 5433 -w; tar -a -cf x.tar y; git commit -a -m pass",
    "The API key is stored in 1Password. The access key is rotated every 90days",
    "token counting, token budget 4096, secret santa2024, token src/auth2/Token.ts, password reset",
    "token parseToken2(x) and the token types.Token2 of api key handling",
    "Standort DE12 3456 7890 1234 5678 90 is no account, nor is GB82ABCD, nor AB12CD34EF56GH78IJ90",
    "use --password to be asked; --token is an option; --password=PASSWORD",
    "secret=your-secret-2 password: <your password> API_KEY=example-key",
    "",
]


@pytest.mark.parametrize("text", CLEAN)
def test_clean_text_is_untouched(text: str) -> None:
    """Prose about security, code that handles secrets, digests, ids and images stay as they are."""
    assert redactor()(text) == text


def test_same_secret_same_stand_in() -> None:
    """B53: a secret read in a tool's output has the same stand-in wherever it is said again, in another
    process with the same key too, and another one under another key."""
    redact = redactor()
    env = redact("DB_PASSWORD=hunter2xyz\n")
    stand_in = STAND_IN.search(env)
    assert stand_in
    echo = redact("I see hunter2xyz there, and postgres://app:hunter2xyz@db/x")
    assert STAND_IN.findall(echo) == [stand_in.group()] * 2
    assert redactor()('{"password": "hunter2xyz"}') == f'{{"password": "{stand_in.group()}"}}'
    assert Redactor(KEY[::-1])("DB_PASSWORD=hunter2xyz\n") != env


@pytest.mark.parametrize("part", [slice(None, 54), slice(54, None), slice(30, 90)])
def test_half_of_a_key_is_known_again(part: slice) -> None:
    """B53: a later row that repeats half of a key gets the stand-in of the whole key."""
    redact = redactor()
    key = "sk-ant-api03-" + "".join(c for i, c in enumerate(MIXED * 2) if i % 3)[:94] + "A"
    whole = redact(f"ANTHROPIC_API_KEY={key}")
    assert redact(f"the key {key[part]} it is") == f"the key {whole.partition('=')[2]} it is"


@pytest.mark.parametrize("wrap", ["\n", "\r\n", "\n    ", "\\\n", "\\n", "\\r\\n"])
def test_a_token_that_was_broken_in_lines(wrap: str) -> None:
    """What a terminal or a backslash broke in lines is one secret, with the stand-in of the whole."""
    token = "sk-ant-api03-Zx9Kq2Lm8Rt5Wv1Yb4Nc7Hd0Gf3Js6Pa-Qe2Ui8Oz5Xl1Mk4Vn7Bt0Cy3Dw6Ea9Rg_Ho2Ip5Jq8Kr1Ls"
    redact = redactor()
    whole = redact(token)
    assert redact(f"a {token[:40]}{wrap}{token[40:70]}{wrap}{token[70:]} b") == f"a {whole} b"


def test_what_follows_a_token_on_the_next_line_stays() -> None:
    """Another secret keeps its own stand-in, a name, a word or a digest stays."""
    first, second = "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "glpat-ABCDEFGHIJ1234567890"
    redact = redactor()
    one, two = redact(first), redact(second)
    assert redact(f"{first}\n{second}") == f"{one}\n{two}"
    for line in (
        "Settings_Of_Server2=1",
        "TestOfLogin2Factors()",
        "src/Main2Window.py and more",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "anotherwordthatislong",
    ):
        assert redact(f"{first}\n{line}") == f"{one}\n{line}"


def test_ordinary_words_are_not_remembered() -> None:
    """A password that is a plain word is cut out where it is named and does not eat the word elsewhere."""
    redact = redactor()
    assert "postgres" not in redact("POSTGRES_PASSWORD=postgres\n")
    assert redact("start postgres") == "start postgres"


def test_memory_is_bounded() -> None:
    """However many secrets pass by, the number that is remembered stays the same."""
    redact = redactor()
    redact("".join(f"X_TOKEN=value{number:05d}z\n" for number in range(500)))
    assert len(redact._memory._kept) == 200
    assert "value00499z" not in redact("bare value00499z")


def test_nested_values_keep_their_shape() -> None:
    """Parsed JSON is redacted by the names of its keys, keys too, without changing its shape."""
    found = redactor().nested(
        {
            "password": "hunter",
            "env": [{"name": "DB_PASSWORD", "value": "correcthorse"}, {"name": "PORT", "value": "80"}],
            "max_tokens": 4096,
            "apiKey": ["q1w2e3r4t5", None, True],
            "note": "mail jane@corp.io",
            "jane@corp.io": 1,
            "token": "string",
        }
    )
    assert list(found)[:5] == ["password", "env", "max_tokens", "apiKey", "note"]
    assert STAND_IN.fullmatch(found["password"])
    assert STAND_IN.fullmatch(found["env"][0]["value"])
    assert found["env"][1] == {"name": "PORT", "value": "80"}
    assert found["max_tokens"] == 4096
    assert STAND_IN.fullmatch(found["apiKey"][0])
    assert found["apiKey"][1:] == [None, True]
    assert "jane" not in json.dumps(found)
    assert found["token"] == "string"


def test_nested_deeper_than_the_stack() -> None:
    """JSON nested deeper than Python's stack is redacted all the same."""
    deep: Any = "mail jane@corp.io"
    for _ in range(5000):
        deep = [deep]
    found = redactor().nested(deep)
    while isinstance(found, list):
        found = found[0]
    assert "jane" not in found


def test_json_stays_well_formed() -> None:
    """A secret inside JSON text, escapes around it, leaves the text valid JSON."""
    text = json.dumps({"a": 'x\njane@corp.io\n"', "b": 'PASSWORD="hunter2xyz"\nTOKEN=q1w2e3r4\n', "c": PEM})
    assert json.loads(redactor()(text)).keys() == {"a", "b", "c"}


def test_key_must_be_long() -> None:
    """A key that can be guessed is refused: stand-ins would give the secrets away."""
    with pytest.raises(ValueError, match="16 bytes"):
        Redactor(b"short")


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        (b"DB_PASSWORD", True),
        (b"apiKey", True),
        (b"client-secret", True),
        (b"SECRET_KEY_BASE", True),
        (b"GITHUB_TOKEN", True),
        (b"token2", True),
        (b"max_tokens", False),
        (b"token_count", False),
        (b"secretName", False),
        (b"tokenizer", False),
        (b"key", False),
        (b"", False),
    ],
)
def test_secret_names(name: bytes, secret: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A name is secret-like by its last words, not by a word in it."""
    assert is_secret_name(name) is secret


PIECES = [
    "sk-ant-",
    "abc123DEF456ghi789JKL012",
    "ghp_",
    "token",
    "secret_",
    "password",
    "PASSWORD",
    "=",
    ": ",
    " ",
    '"',
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1",
    ".eyJzdWIiOiIxMj",
    "://",
    "user:",
    "pw1@x",
    "@corp.io",
    "\\",
    "\n",
    "4111111111111111",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "\nMIIEowIBAAKCAQEA\n",
    "é",
    "Bearer ",
    "Cookie: a=",
    "hunter2xyz",
    "[secret:",
    "[secret:credential:abcdef]",
    "[",
    "]",
    "--token ",
    " -u ",
    " is ",
    ">",
    "<",
    "12345678:AA",
    "DB_PASS=",
    "mot de passe : ",
    "contraseña",
    "mysql -p",
    "sshpass -p ",
    "redis-cli -a ",
    "DE89 3704 0044 0532 0130 00",
    "token ",
    "API key",
    "Rot3Kiwi88",
    ".",
    "_",
    "-",
    "1",
    "a",
    "'",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_redaction_is_idempotent(text: str) -> None:
    """What was redacted once is not changed by a second time, whatever stands side by side."""
    redact = redactor()
    once = redact(text)
    assert redact(once) == once


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_stand_ins_are_never_touched(text: str) -> None:
    """A stand-in that is already in the text is in the result, unchanged."""
    given_in = [found for found in STAND_IN.findall(text) if found == "[secret:credential:abcdef]"]
    assert len([f for f in STAND_IN.findall(redactor()(text)) if f == "[secret:credential:abcdef]"]) == len(
        given_in
    )


@given(st.text(alphabet=string.ascii_lowercase + " .,;!?äß漢\n", max_size=200))
def test_plain_words_are_untouched(text: str) -> None:
    """Words and punctuation without digits, signs of assignment or addresses hold no secret."""
    assert redactor()(text) == text


@given(st.text(alphabet=st.characters(), max_size=80))
def test_any_text_is_accepted(text: str) -> None:
    """Lone surrogates, NUL and all else is read without an error."""
    assert isinstance(redactor()(text), str)


@pytest.mark.parametrize(
    "piece",
    [
        "A-",
        "sk-",
        "-eyJaaaaaaaaaa",
        "a@",
        "://a:b",
        "password=",
        "mysql -p",
        " -pabcd",
        "token aB3xK9mQ ",
        "DE89 3704 0044 0532 0130 ",
        "DE89370400440532",
        "mot de passe est ",
        "pass",
        "-----BEGIN PRIVATE KEY-----\n",
        "eyJ.",
        '"',
    ],
)
def test_work_grows_with_the_length(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text made to be slow costs a number of judgements that grows no faster than its length."""
    from nightschool.rules.secret_scan import Scan  # noqa: PLC0415 - counted here alone

    judged = 0
    judge = Scan._judge

    def counted(self: Scan, start: int, end: int) -> int:
        nonlocal judged
        judged += 1
        return judge(self, start, end)

    monkeypatch.setattr(Scan, "_judge", counted)
    redactor()(piece * 1000)
    small, judged = judged, 0
    redactor()(piece * 4000)
    assert judged <= 4 * small + 8
