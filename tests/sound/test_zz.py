from tests.sound.test_echo import *
import voiceagent.voice.echo as E, voiceagent.voice.leak as K
@pytest.fixture(autouse=True)
def broken(monkeypatch): monkeypatch.setattr(K,"OWN",2.0)
