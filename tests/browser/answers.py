"""Whether the server has begun the runs that a page asked it for: `ASKED_RUNS`, a script that runs before the page's.

Streamlit shows no sign between a press and the first word of its run, and a busy server takes its time for that. The
script reads the messages: `window.labAwaited` holds the fragments (the whole page is one without a name) from the
request of a run until it begins, and `window.labAsked` counts the requests. What a timer asks for is left out, and what
a fragment of a page that was left asks for, since it has no answer.
"""

from google.protobuf.descriptor import Descriptor
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg, ForwardMsgMetadata, RunIdentity


def _numbers(message: Descriptor, *fields: str) -> list[int]:
    """Fields' numbers in protobuf's encoding."""
    return [message.fields_by_name[field].number for field in fields]


(_RERUN,) = _numbers(BackMsg.DESCRIPTOR, "rerun_script")
_PAGE, _FRAGMENT, _BY_TIMER = _numbers(ClientState.DESCRIPTOR, "page_script_hash", "fragment_id", "is_auto_rerun")
_BEGUN, _ABOUT = _numbers(ForwardMsg.DESCRIPTOR, "new_session", "metadata")
(_RUN,) = _numbers(ForwardMsgMetadata.DESCRIPTOR, "run")
(_FRAGMENTS,) = _numbers(RunIdentity.DESCRIPTOR, "fragment_ids")

ASKED_RUNS = f"""(() => {{
  // Each field of a message, [number, value or bytes]: protobuf's kinds 0 and 2, all that these messages begin with.
  const fieldsOf = function* (bytes) {{
    let at = 0;
    const varint = () => {{
      let value = 0, scale = 1, byte;
      do {{ byte = bytes[at++]; value += (byte & 127) * scale; scale *= 128; }} while (byte > 127);
      return value;
    }};
    while (at < bytes.length) {{
      const tag = varint(), size = varint(), kind = tag & 7;
      if (kind !== 0 && kind !== 2) return;
      yield [tag >>> 3, kind ? bytes.subarray(at, at + size) : size];
      if (kind) at += size;
    }}
  }};
  const fieldOf = (bytes, wanted) => {{
    for (const [number, value] of fieldsOf(bytes)) if (number === wanted) return value;
  }};
  const words = bytes => new TextDecoder().decode(bytes ?? new Uint8Array());
  const awaited = window.labAwaited = new Set();
  window.labAsked = 0;
  let page = '';
  const asked = run => {{
    const of = words(fieldOf(run, {_PAGE}));
    const fragment = words(fieldOf(run, {_FRAGMENT}));
    if (!fragment) page = of;
    const isTimer = fieldOf(run, {_BY_TIMER});
    if (isTimer || (page && of !== page)) return;
    awaited.add(fragment);
    window.labAsked += 1;
  }};
  const begun = about => {{
    const run = fieldOf(about, {_RUN}) ?? new Uint8Array();
    const fragments = [...fieldsOf(run)].filter(([number]) => number === {_FRAGMENTS});
    fragments.forEach(([, fragment]) => awaited.delete(words(fragment)));
    if (!fragments.length) awaited.clear();
  }};
  window.WebSocket = class extends WebSocket {{
    constructor(...how) {{
      super(...how);
      this.addEventListener('message', ({{ data }}) => {{
        const message = data instanceof ArrayBuffer ? new Uint8Array(data) : [];
        if (fieldOf(message, {_BEGUN})) begun(fieldOf(message, {_ABOUT}));
      }});
      this.addEventListener('close', () => awaited.clear());
    }}
    send(data) {{
      const run = ArrayBuffer.isView(data) && fieldOf(data, {_RERUN});
      if (run) asked(run);
      super.send(data);
    }}
  }};
}})()"""
