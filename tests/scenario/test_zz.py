from tests.scenario.test_field_cases_spoken import *
import voiceagent.voice.echo as E
@pytest.fixture(autouse=True)
def broken(monkeypatch): monkeypatch.setattr(E.EchoWords,"repeats",lambda *a,**k: False)
