"""listener measure over fast talk"""
import sys; sys.path.insert(0,'/work/main')
import numpy as np, pytest
from pathlib import Path
from tests.sound.hearing import load
from tests.sound.talking import together, write
from tests.sound.interjections import cough,slam,laughter
from voiceagent.audio.frame import to_samples,RATE
from benchmarks.peers import hearing as h
from tests.sound.test_spoken_over import ANSWER,QUESTION
pytestmark = pytest.mark.usefixtures("default_models")
def test_m(talk, shared_audio):
    D=[];S=[]
    for p in sorted(shared_audio.glob('*.wav')):
        if 'pyannote' in p.name or p.name.startswith('tau2-noise'): continue
        sound=load(p); b,_=h.speech_bounds(sound); on=to_samples(6000)+b
        run=talk(write(talk.folder/"Ann.wav",together((0,load(shared_audio/QUESTION)),(6000,sound))),answers=[ANSWER,"Good."])
        ev=[(l['type'][7:],l['at_ms']) for k in('ducked','paused','resumed','cut') for l in run.told('speech.'+k)]
        a=lambda f:(lambda v:None if v is None else v*1000//RATE)(f)
        d,s=a(h.ducked_after(run.right,on)),a(h.silent_after(run.right,on)); D.append(d);S.append(s)
        print(p.name[:26],d,s,'onset',on*1000//RATE,sorted(ev,key=lambda e:e[1])[:4],flush=True)
    for n,v in(('ducked',D),('silent',S)):
        v=[x for x in v if x is not None]; print(n,len(v),'p50 %d p95 %d'%(np.median(v),np.percentile(v,95)))
    for n,x in (('horn',load(shared_audio/'tau2-noise_car_horn.wav')),('dog',load(shared_audio/'tau2-noise_dog_bark.wav')),('cough',cough()),('slam',slam()),('laugh',laughter())):
        run=talk(write(talk.folder/"Ann.wav",together((0,load(shared_audio/QUESTION)),(6000,x))),answers=[ANSWER*2,"Good."])
        print(n,[(l['type'][7:],l['at_ms']) for k in('ducked','paused','resumed','cut') for l in run.told('speech.'+k)],flush=True)
    pass
