"""Random MJCF: trees of bodies with random joints, geoms, solver parameters, tendons, actuators, fluids, options."""

import numpy as np

__all__ = ["random_model"]

WIDTH = {"free": 6, "ball": 3, "hinge": 1, "slide": 1}


def random_model(seed: int, nv: int) -> str:
    """An XML string of a model with nv degrees of freedom."""
    return _Writer(np.random.default_rng(seed)).model(nv)


class _Writer:
    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.joints: list[tuple[str, str]] = []

    def numbers(self, low: float, high: float, count: int = 1) -> str:
        return " ".join(f"{x:.4g}" for x in self.rng.uniform(low, high, count))

    def maybe(self, chance: float, text: str) -> str:
        return text if self.rng.random() < chance else ""

    def model(self, nv: int) -> str:
        children: dict[int, list[int]] = {-1: []}
        texts: list[str] = []
        while nv > 0:
            parent = int(self.rng.integers(len(texts))) if texts and self.rng.random() < 0.7 else -1
            kinds = self.kinds(nv, parent)
            nv -= sum(WIDTH[kind] for kind in kinds)
            children[parent].append(len(texts))
            children[len(texts)] = []
            texts.append(self.body(kinds, parent))

        def emit(body: int) -> str:
            return texts[body] + "".join(map(emit, children[body])) + "</body>"

        floor = self.maybe(0.8, "<geom type='plane' size='5 5 .1' euler='3 4 0'/>")
        motors = "".join(self.maybe(0.5, self.motor(*joint)) for joint in self.joints)
        integrator = self.rng.choice(["Euler", "RK4"])
        option = f"impratio='{self.rng.choice([1, 1, 5])}' gravity='{self.numbers(-3, 3, 2)} -9.8'"
        bodies = "".join(map(emit, children[-1]))
        option += f" integrator='{self.rng.choice([integrator, 'implicit', 'implicitfast'])}'"
        option += self.maybe(0.3, f" density='{self.numbers(0, 500)}' viscosity='{self.numbers(0, 1)}' wind='1 0 2'")
        tendons = self.tendon() if self.scalar_joints() and self.rng.random() < 0.4 else ""
        motors += "".join(self.maybe(0.3, self.servo(name)) for name in self.scalar_joints())
        motors += self.servo("rope", "tendon") if tendons and self.rng.random() < 0.5 else ""
        return (
            f"<mujoco><option {option}/><worldbody>{floor}{bodies}</worldbody>"
            f"<tendon>{tendons}</tendon><actuator>{motors}</actuator></mujoco>"
        )

    def scalar_joints(self) -> list[str]:
        return [name for name, kind in self.joints if kind in ("hinge", "slide")]

    def kinds(self, left: int, parent: int) -> list[str]:
        """Joint types of one body: a free joint, or up to three others (a ball joint last), or none."""
        if parent < 0 and left >= 6 and self.rng.random() < 0.5:
            return ["free"]
        kinds: list[str] = []
        for _ in range(self.rng.choice([0, 1, 2, 3])):
            fit = [k for k in ("hinge", "slide", "ball") if WIDTH[k] <= left and (k == "slide" or "ball" not in kinds)]
            if fit:
                kinds.append(str(self.rng.choice(fit)))
                left -= WIDTH[kinds[-1]]
        return kinds

    def body(self, kinds: list[str], parent: int) -> str:
        pos = self.numbers(-0.2, 0.2, 3) if parent >= 0 else f"{self.numbers(-0.2, 0.2, 2)} {self.numbers(0, 0.25)}"
        inertia = (
            f"<inertial pos='{self.numbers(-0.05, 0.05, 3)}' euler='{self.numbers(-90, 90, 3)}' "
            f"mass='{self.numbers(0.5, 3)}' diaginertia='{self.numbers(0.01, 0.014, 3)}'/>"
        )
        inside = "".join(map(self.joint, kinds)) + self.maybe(0.3, inertia)
        geoms = "".join(self.geom() for _ in range(self.rng.integers(1, 3)))
        return f"<body pos='{pos}' euler='{self.numbers(-180, 180, 3)}'>{inside}{geoms}"

    def joint(self, kind: str) -> str:
        name = f"joint{len(self.joints)}"
        self.joints.append((name, kind))
        text = f"name='{name}' type='{kind}'" + self.maybe(0.3, f" stiffness='{self.numbers(0, 20)}'")
        text += self.maybe(0.4, f" damping='{self.numbers(0, 2)}'")
        text += self.maybe(0.4, f" armature='{self.numbers(0, 0.1)}'")
        if kind != "free":
            text += f" pos='{self.numbers(-0.1, 0.1, 3)}'" + self.maybe(0.2, f" margin='{self.numbers(0, 0.1)}'")
        if kind == "ball":
            text += self.maybe(0.5, f" range='0 {self.numbers(5, 60)}'")
        elif kind != "free":
            reach = 20 if kind == "hinge" else 0.1
            text += f" axis='{self.numbers(-1, 1, 3)}'"
            text += self.maybe(0.5, f" range='{self.numbers(-reach, 0)} {self.numbers(0, reach)}'")
            text += self.maybe(0.3, f" ref='{self.numbers(-0.3, 0.3)}' springref='{self.numbers(-0.3, 0.3)}'")
        return f"<joint {text}/>"

    def geom(self) -> str:
        kind = self.rng.choice(["sphere", "capsule"])
        size = self.numbers(0.05, 0.12) + (f" {self.numbers(0.05, 0.2)}" if kind == "capsule" else "")
        text = f"type='{kind}' size='{size}' pos='{self.numbers(-0.1, 0.1, 3)}' euler='{self.numbers(-180, 180, 3)}'"
        text += f" friction='{self.numbers(0.2, 1.5)}'" + self.maybe(0.2, " condim='1'")
        for attribute in ("margin", "gap"):
            text += self.maybe(0.3, f" {attribute}='{self.numbers(0, 0.02)}'")
        text += self.maybe(0.3, f" priority='{self.rng.integers(3)}'")
        text += self.maybe(0.3, f" solmix='{self.numbers(0, 2)}'")
        direct = self.rng.random() < 0.3
        solref = ((-2000, -200), (-50, -5)) if direct else ((0.01, 0.05), (0.5, 1.2))
        text += self.maybe(0.5, f" solref='{' '.join(self.numbers(*bounds) for bounds in solref)}'")
        solimp = " ".join(self.numbers(*bounds) for bounds in ((0.5, 0.9), (0.8, 0.99), (0.001, 0.02), (0.2, 0.8)))
        text += self.maybe(0.4, f" solimp='{solimp} {self.rng.choice([1, 1.5, 2, 3])}'")
        text += self.maybe(0.2, f" contype='{self.rng.integers(4)}' conaffinity='{self.rng.integers(4)}'")
        return f"<geom {text}/>"

    def motor(self, joint: str, kind: str) -> str:
        text = f"joint='{joint}' gear='{self.numbers(-3, 3, WIDTH[kind])}' gainprm='{self.numbers(0.5, 2)}'"
        text += self.maybe(0.6, " ctrlrange='-1 .8'") + self.maybe(0.3, " forcerange='-.5 .9'")
        return f"<general {text}/>"

    def tendon(self) -> str:
        chosen = self.rng.permutation(self.scalar_joints())[: self.rng.integers(1, 4)]
        joints = "".join(f"<joint joint='{name}' coef='{self.numbers(-2, 2)}'/>" for name in chosen)
        text = self.maybe(0.5, f" stiffness='{self.numbers(0, 20)}'")
        text += self.maybe(0.5, f" damping='{self.numbers(0, 2)}'")
        text += self.maybe(0.3, f" range='{self.numbers(-0.3, 0)} {self.numbers(0, 0.3)}'")
        text += self.maybe(0.3, f" springlength='{self.numbers(-0.2, 0)} {self.numbers(0, 0.2)}'")
        return f"<fixed name='rope'{text}>{joints}</fixed>"

    def servo(self, name: str, transmission: str = "joint") -> str:
        text = f"{transmission}='{name}' gear='{self.numbers(-2, 2)}' biastype='affine' gaintype='affine'"
        text += f" gainprm='{self.numbers(-3, 3, 3)}'"
        text += f" biasprm='{self.numbers(-1, 1)} -{self.numbers(0, 9)} -{self.numbers(0, 2)}'"
        kind = self.rng.choice(["none", "integrator", "filter", "filterexact"])
        if kind != "none":
            text += f" dyntype='{kind}' dynprm='{self.numbers(0.01, 0.1)}'" + self.maybe(0.3, " actearly='true'")
            text += self.maybe(0.3, " actrange='-.7 .8'")
        text += self.maybe(0.3, " forcerange='-2 3'")
        return f"<general {text}/>"
