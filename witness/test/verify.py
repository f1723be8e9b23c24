"""Checks notes, cosignatures and proofs as the texts of c2sp.org and RFC 9162 say, with Python alone.

Nothing here comes from Countersign. Ed25519 is written from RFC 8032, section 5.1. Reads JSON from standard
input: a list of {"note", "logKeys", "witnessKeys", "proof"}, or with "receipt", a tlog-proof, in the place of
"note". Prints, for each, the times of the cosignatures by these keys, or "refused".
"""

import base64
import functools
import hashlib
import json
import sys

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def recover_x(y, sign):
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    if square == 0:
        return None if sign else 0
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P != 0:
        return None
    return P - x if x & 1 != sign else x


def add(one, other):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = one, other
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def same(one, other):
    (x1, y1, z1, _), (x2, y2, z2, _) = one, other
    return (x1 * z2 - x2 * z1) % P == 0 and (y1 * z2 - y2 * z1) % P == 0


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE_X = recover_x(BASE_Y, 0)
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)


def decompress(data):
    y = int.from_bytes(data, "little")
    sign = y >> 255
    y &= (1 << 255) - 1
    x = recover_x(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


@functools.cache
def is_signed(public, message, signature):
    if len(public) != 32 or len(signature) != 64:
        return False
    a, r = decompress(public), decompress(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    h = int.from_bytes(digest, "little") % ORDER
    return same(multiply(s, BASE), add(r, multiply(h, a)))


class Refused(Exception):
    pass


def need(holds):
    if not holds:
        raise Refused


def read_key(text):
    name, key_id, encoded = text.split("+", 2)
    content = base64.b64decode(encoded, validate=True)
    digest = hashlib.sha256(name.encode() + b"\n" + content).digest()
    need(key_id == digest[:4].hex() and len(content) == 33)
    return name, digest[:4], content[0], content[1:]


def read_note(note):
    text, signatures = note.rsplit("\n\n", 1)
    need(signatures.endswith("\n"))
    lines = []
    for line in signatures[:-1].split("\n"):
        dash, name, encoded = line.split(" ")
        content = base64.b64decode(encoded, validate=True)
        need(dash == "\u2014" and len(content) > 4)
        lines.append((name, content[:4], content[4:]))
    return text + "\n", lines


def read_checkpoint(text):
    origin, size, root = text[:-1].split("\n")
    need(size == str(int(size)))
    return origin, int(size), base64.b64decode(root, validate=True)


def signatures_by(lines, key):
    return [signature for name, key_id, signature in lines if (name, key_id) == key[:2]]


def cosigned_at(text, lines, key):
    (signature,) = signatures_by(lines, key)
    seconds = int.from_bytes(signature[:8], "big")
    message = f"cosignature/v1\ntime {seconds}\n{text}".encode()
    need(key[2] == 4 and is_signed(key[3], message, signature[8:]))
    return seconds


def node(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def check_consistency(first, first_root, second, second_root, path):
    """RFC 9162, section 2.1.4.2, in its own steps."""
    if first == second:
        need(path == [] and first_root == second_root)
        return
    need(0 < first < second and path != [])
    if first & (first - 1) == 0:
        path = [first_root] + path
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for value in path[1:]:
        need(sn != 0)
        if fn & 1 or fn == sn:
            fr, sr = node(value, fr), node(value, sr)
            while fn & 1 == 0 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node(sr, value)
        fn, sn = fn >> 1, sn >> 1
    need(fr == first_root and sr == second_root and sn == 0)


def check_inclusion(index, size, leaf, root, path):
    """RFC 9162, section 2.1.3.2, in its own steps."""
    need(index < size)
    fn, sn, r = index, size - 1, leaf
    for value in path:
        need(sn != 0)
        if fn & 1 or fn == sn:
            r = node(value, r)
            while fn & 1 == 0 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node(r, value)
        fn, sn = fn >> 1, sn >> 1
    need(sn == 0 and r == root)


def note_of_receipt(receipt):
    head, note = receipt.split("\n\n", 1)
    version, extra, index, *hashes = head.split("\n")
    need(version == "c2sp.org/tlog-proof@v1" and extra.startswith("extra ") and index.startswith("index "))
    line = base64.b64decode(extra[6:], validate=True)
    _, size, root = read_checkpoint(read_note(note)[0])
    path = [base64.b64decode(value, validate=True) for value in hashes]
    place = int(index[6:])
    check_inclusion(place, size, hashlib.sha256(b"\x00" + line).digest(), root, path)
    said = json.loads(line)
    need(said["sequence"] == place + 1 and said["kind"] == "approved")
    return note


def check(case):
    note = note_of_receipt(case["receipt"]) if "receipt" in case else case["note"]
    text, lines = read_note(note)
    origin, size, root = read_checkpoint(text)
    for key in map(read_key, case["logKeys"]):
        need(key[0] == origin and key[2] == 1)
        (signature,) = signatures_by(lines, key)
        need(is_signed(key[3], text.encode(), signature))
    if "proof" in case:
        path = [base64.b64decode(value, validate=True) for value in case["proof"]["hashes"]]
        before = base64.b64decode(case["proof"]["root"], validate=True)
        check_consistency(case["proof"]["from"], before, size, root, path)
    return [cosigned_at(text, lines, read_key(key)) for key in case["witnessKeys"]]


def answer(case):
    try:
        return check(case)
    except (Refused, ValueError):
        return "refused"


if __name__ == "__main__":
    print(json.dumps([answer(case) for case in json.load(sys.stdin)]))
