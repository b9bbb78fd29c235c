# A FAKE model for the real cog server: it makes no video, but hands out a file of the repository, after a short while.
import json
import os
import time
from pathlib import Path as File

from cog import BasePredictor, Path


class Predictor(BasePredictor):
    def predict(
        self,
        prompt: str,
        seed: int = 0,
        frames: int = 0,
        num_frames: int = 0,
        image: str = "",
        audio: str = "",
        negative_prompt: str = "",
        resolution: str = "",
        seconds: int = 0,
        width: int = 0,
        height: int = 0,
        ratio: str = "",
        generate_audio: bool = True,
        first_frame: str = "",
        last_frame: str = "",
        video: str = "",
        camera_fixed: bool = False,
        style: str = "",
    ) -> Path:
        given = {name: value for name, value in locals().items() if name != "self"}
        with open(os.environ["RUNS"] + ".inputs", "a") as inputs:
            inputs.write(json.dumps(given) + "\n")
        with open(os.environ["RUNS"], "a") as runs:
            runs.write(f"{prompt}|{frames or num_frames}|{seed}|{image[:22]}|{audio[:22]}\n")
        for percent in range(10, 101, 10):
            print(f"{percent}%", flush=True)
            time.sleep(0.1)
            while "hold" in prompt and not os.path.exists(os.environ["RUNS"] + ".end"):
                time.sleep(0.05)
        if "refuse" in prompt:
            raise ValueError("cannot do that")
        if "die" in prompt:
            os.kill(os.getpid(), 9)
        copy = File(os.environ["RUNS"] + ".mp4")
        copy.write_bytes(File(os.environ["VIDEO"]).read_bytes())
        return Path(copy)
