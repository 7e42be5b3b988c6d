#!/usr/bin/env python3
"""The scripts that `doetune export` writes, run by R and by Python: lm, rlm, lme and statsmodels vouch for fit.json.

usage: test_export.py DOETUNE SOURCE_TREE RSCRIPT    (RSCRIPT empty: without R)
"""
import importlib.util
import json
import math
import random
import re
import shutil
import subprocess
import sys

from cli_case import CliCase, TREE, main

RSCRIPT = sys.argv[3]

# Names travel as code points: a level may hold anything.
R_DRIVER = """
given <- commandArgs(trailingOnly = TRUE)
source(given[1], encoding = "UTF-8")
for (name in names(fits)) {
  summary <- summary(fits[[name]])
  table <- if (is.null(summary$tTable)) coef(summary) else summary$tTable
  for (row in rownames(table)) {
    cat("##", name, paste(utf8ToInt(enc2utf8(row)), collapse = ","),
        sprintf("%.17g %.17g", table[row, 1], table[row, 2]), "\\n")
  }
}
"""
PYTHON_DRIVER = """
import runpy, sys
for name, fit in runpy.run_path(sys.argv[1])["fits"].items():
    for term in fit.params.index:
        print("##", name, ",".join(str(ord(c)) for c in term), repr(float(fit.params[term])), repr(float(fit.bse[term])))
"""

HOSTILE_LEVELS = ['a"); system("touch hacked") #', "b\nimport os; os.system('touch hacked')", "c\\", "d'é☃\U0001f600", "NA"]


def has_module(name):
    return importlib.util.find_spec(name) is not None


def has_r_package(name):
    return bool(RSCRIPT) and subprocess.run(
        [RSCRIPT, "-e", f'quit(status = !requireNamespace("{name}"))'], capture_output=True).returncode == 0


class Answer:
    """What a script fitted: {response: {term: (estimate, standard error)}}, and what it printed."""

    def __init__(self, output):
        self.fits = {}
        for line in output.splitlines():
            if line.startswith("## "):
                _, name, term, estimate, error = line.split()
                term = "".join(chr(int(point)) for point in term.split(","))
                self.fits.setdefault(name, {})[term] = (float(estimate), float(error))
        self.printed = "\n".join(line for line in output.splitlines() if not line.startswith("## "))
        self.sigma_and_r2 = [(float(s), int(df), float(r2)) for s, df, r2 in re.findall(
            r"^sigma (\S+) with (\d+) degrees of freedom, R2 (\S+)$", output, re.M)]


def r_term(term, two_levels):
    """A term of fit.json as R names it; of two levels there is one contrast, named as the factor."""
    if term == "1":
        return "(Intercept)"
    names = []
    for part in term.split("*"):
        factor = part.split("[")[0]
        names.append(f"I({part})" if "^" in part else factor if factor in two_levels else part)
    return ":".join(names)


class Export(CliCase):
    def imported(self, text, rows, name="study"):
        """Imports rows (dictionaries) under a study file, fits it, returns fit.json."""
        import csv
        (self.directory / f"{name}.yaml").write_text(text)
        with open(self.directory / "runs.csv", "w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        shutil.rmtree(self.directory / name, ignore_errors=True)
        self.doetune("import", f"{name}.yaml", "runs.csv", "-o", name)
        return json.loads(self.doetune("fit", name, "--json").stdout)["responses"]

    def answer(self, language, name="study", options=()):
        self.doetune("export", name, "--to", language, *options)
        if language == "r":
            driver, script = self.directory / "driver.R", f"{name}/export.R"
            driver.write_text(R_DRIVER)
            command = [RSCRIPT, driver, script]
        else:
            driver, script = self.directory / "driver.py", f"{name}/export.py"
            driver.write_text(PYTHON_DRIVER)
            command = [sys.executable, "-W", "ignore", driver, script]
        done = subprocess.run(command, cwd=self.directory, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return Answer(done.stdout.decode())

    def languages(self):
        if RSCRIPT:
            yield "r"
        if has_module("statsmodels"):
            yield "python"

    def compare(self, fits, two_levels=(), options=()):
        for language in self.languages():
            with self.subTest(language=language):
                answer = self.answer(language, options=options)
                self.assertNotRegex(answer.printed, r"\d\.\d{12}")  # six digits, for people
                fitted = {response: fit for response, fit in fits.items() if "coefficients" in fit}
                self.assertEqual(set(answer.fits), set(fitted))
                for response, fit in fitted.items():
                    theirs = answer.fits[response]
                    rows = fit["coefficients"] + fit["block_effects"]
                    self.assertEqual(len(theirs), len(rows))
                    for row in rows:
                        term = r_term(row["term"], two_levels) if language == "r" else row["term"]
                        estimate, error = theirs[term]
                        scale = max(abs(row["estimate"]), row["std_error"])
                        self.assertLessEqual(abs(estimate - row["estimate"]), 1e-9 * scale, (response, term))
                        self.assertLessEqual(abs(error / row["std_error"] - 1), 1e-9, (response, term))
                for (sigma, df, r2), fit in zip(answer.sigma_and_r2, fitted.values()):
                    # Printed for people, to six digits; standard errors vouch for the rest.
                    self.assertAlmostEqual(sigma / fit["sigma"], 1, delta=5e-6)
                    self.assertEqual(df, fit["df_residual"])
                    self.assertAlmostEqual(r2, fit["r2"], delta=5e-6)

    def test_published_fccd(self):
        example = TREE / "examples/published-fccd"
        self.doetune("import", example / "fccd.yaml", example / "fccd_yolo_spark.csv", "-o", "study")
        self.compare(json.loads(self.doetune("fit", "study", "--json").stdout)["responses"])

    def test_predictions_at_other_settings(self):
        example = TREE / "examples/published-fccd"
        self.doetune("import", example / "fccd.yaml", example / "fccd_yolo_spark.csv", "-o", "study")
        held = [word for name, value in (("executors_per_gpu", 2), ("batch_size", 3), ("decode_rate", 2.5))
                for word in ("--hold", f"{name}={value}")]
        optimum = json.loads(self.doetune("optimize", "study", "--json", *held).stdout)
        outlook = optimum["responses"]["throughput"]
        expected = [outlook["mean"], *outlook["prediction_interval"]]
        for language in self.languages():
            script = self.doetune("export", "study", "--to", language, "-o", "-").stdout
            if language == "r":
                settings = ", ".join(f"{name} = {value}" for name, value in optimum["settings"].items())
                script += f"""p <- predict(fits$throughput, code(list({settings})), interval = "prediction")
cat("## ", sprintf("%.17g ", p), "\n", sep = "")\n"""
            else:
                script += f"""point = columns(code({ {name: [value] for name, value in optimum["settings"].items()} }), terms["throughput"])
table = fits["throughput"].get_prediction(point).summary_frame()
print("##", *table[["mean", "obs_ci_lower", "obs_ci_upper"]].iloc[0])\n"""
            file = self.directory / "predict"
            file.write_text(script)
            done = subprocess.run([RSCRIPT if language == "r" else sys.executable, file], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            line = next(line for line in done.stdout.splitlines() if line.startswith("## "))
            for ours, theirs in zip(expected, map(float, line.split()[1:]), strict=True):
                self.assertAlmostEqual(ours / theirs, 1, delta=1e-9)

    def test_transforms_scales_and_categorical_factors(self):
        chance, rows = random.Random(3), []
        for batch in 1, 8, 64:
            for rate in 0.5, 2, 8:
                for word, p in ("fp32", 0), ("bf16", 1), ("int8", 2):
                    for core in "big", "little":
                        scatter = math.exp(chance.gauss(0, 0.05))
                        base = 4 * math.sqrt(batch) * rate**0.3 / (1 + p) * (2 if core == "big" else 3)
                        rows.append({"batch": batch, "rate": rate, "precision": word, "core": core,
                                     "plain": base * scatter, "latency": base * scatter,
                                     "root": (base * scatter)**2, "inverse": scatter / base,
                                     "share": 1 / (1 + math.exp(0.8 * p - 0.1 * rate * scatter)),
                                     "energy": (2 + 0.3 * math.log2(batch) + 0.2 * p) * scatter,
                                     "partly": "" if chance.random() < 0.2 else base + scatter})
        fits = self.imported("""command: [./bench]
factors:
  batch: {low: 1, high: 64, scale: log2, levels: [1, 2, 4, 8, 16, 32, 64]}
  rate: {low: 0.5, high: 8, scale: log10, unit: Hz}
  precision: {levels: [fp32, bf16, int8]}
  core: {levels: [big, little]}
model: quadratic
responses:
  plain: {}
  latency: {unit: ms, transform: log}
  root: {transform: sqrt}
  inverse: {transform: inverse}
  share: {transform: logit}
  energy: {transform: box-cox}
  partly: {fit: {selection: backward}}
""", rows)
        self.assertLess(fits["partly"]["n"], fits["plain"]["n"])
        self.assertLess(len(fits["partly"]["model"]), len(fits["plain"]["model"]))
        self.compare(fits, two_levels=("core",))
        power = ("--transform", "power(-0.3)")
        fits = json.loads(self.doetune("fit", "study", "--json", *power).stdout)["responses"]
        self.assertEqual(fits["plain"]["transform"], "power(-0.3)")
        self.compare(fits, two_levels=("core",), options=power)

    def rows_of_two_factors(self, more):
        chance = random.Random(5)
        rows = []
        for repeat in range(3):
            for a in -1, 0, 1:
                for b in 2, 3, 4:
                    row = {"a": a, "b": b}
                    rows.append({**row, **more(row, repeat, len(rows), chance)})
        return rows

    STUDY = "command: [./bench]\nfactors: {a: {low: -1, high: 1}, b: {low: 2, high: 4}}\n"

    def test_blocks(self):
        rows = self.rows_of_two_factors(lambda row, repeat, i, chance: {
            "block": repeat + 1, "y": 10 + row["a"] + 3 * repeat + row["b"]**2 + chance.gauss(0, 0.3)})
        fits = self.imported(self.STUDY + "responses: {y: {}}\n", rows)
        self.assertEqual(len(fits["y"]["block_effects"]), 2)
        self.compare(fits)

    def test_terms_without_their_margins_and_without_a_constant(self):
        rows = self.rows_of_two_factors(lambda row, repeat, i, chance: {
            "w": "xyz"[repeat], "y": 10 + row["a"] * repeat + row["b"] + chance.gauss(0, 0.3)})
        text = self.STUDY.replace("b: {", "w: {levels: [x, y, z]}, b: {") + "responses: {y: {}}\n"
        self.compare(self.imported(text + 'model: ["1", "a*w", "b^2", "a*b*w"]\n', rows))
        self.compare(self.imported(text + 'model: ["a", "b", "w"]\n', rows))

    def test_weights_of_a_modelled_variance(self):
        rows = self.rows_of_two_factors(lambda row, repeat, i, chance: {
            "y": 10 + row["a"] + chance.gauss(0, 0.3 * 3**row["a"])})
        fits = self.imported(self.STUDY + "fit: {variance: modelled}\nresponses: {y: {}}\n", rows)
        script = self.doetune("export", "study", "--to", "r", "-o", "-").stdout
        self.assertIn("weight.y", script)
        self.compare(fits)

    def test_robust_fits(self):
        rows = self.rows_of_two_factors(lambda row, repeat, i, chance: {
            "y": 10 + row["a"] + chance.gauss(0, 0.3) + (9 if i in (3, 17) else 0)})
        for loss in "huber", "tukey":
            fits = self.imported(self.STUDY + f"fit: {{loss: {loss}}}\nresponses: {{y: {{}}}}\n", rows)
            rows_of = {row["term"]: row for row in fits["y"]["coefficients"]}
            if has_r_package("MASS"):
                for term, row in rows_of.items():
                    estimate, error = self.answer("r").fits["y"][r_term(term, ())]
                    self.assertAlmostEqual(estimate, row["estimate"], delta=1e-6 * row["std_error"])
                    self.assertAlmostEqual(error / row["std_error"], 1, delta=1e-6)
            if has_module("statsmodels"):  # a scale of 0.67449 for 0.6745, and other errors
                for term, row in rows_of.items():
                    estimate, _ = self.answer("python").fits["y"][term]
                    self.assertAlmostEqual(estimate, row["estimate"], delta=1e-4 * row["std_error"])

    def test_whole_plots(self):
        rows = []
        chance = random.Random(7)
        for plot in range(8):
            error, a = chance.gauss(0, 1), (-1, 1, 0, 1, -1, 0, 1, -1)[plot]
            for b in 2, 3, 4:
                rows.append({"whole_plot": plot + 1, "a": a, "b": b, "y": 10 + a + b + error + chance.gauss(0, 0.4)})
        fits = self.imported(self.STUDY.replace("-1, high: 1", "-1, high: 1, hard_to_change: true")
                          + "model: interactions\nresponses: {y: {}}\n", rows)
        self.assertGreater(fits["y"]["split_plot"]["whole_plot_variance"], 0)
        for language in self.languages():
            if language == "r" and not has_r_package("nlme"):
                continue
            theirs = self.answer(language).fits["y"]
            for row in fits["y"]["coefficients"]:
                estimate, _ = theirs[r_term(row["term"], ()) if language == "r" else row["term"]]
                self.assertAlmostEqual(estimate, row["estimate"], delta=1e-5 * row["std_error"])

    def test_what_cannot_be_fitted_is_said(self):
        rows = self.rows_of_two_factors(lambda row, repeat, i, chance: {
            "y": 10 + row["a"] + chance.gauss(0, 0.3), "negative": -1 - i})
        fits = self.imported(self.STUDY + "responses: {y: {fit: {surface: gaussian-process}}, "
                          "negative: {transform: log}}\n", rows)
        for language in "r", "python":
            script = self.doetune("export", "study", "--to", language, "-o", "-").stdout
            self.assertIn("gaussian-process", script)
            self.assertIn("# negative: doetune has no polynomial for it", script)
        self.compare(fits)

    def test_names_and_levels_are_never_code(self):
        rows = self.rows_of_two_factors(lambda row, repeat, i, chance: {
            "if": row["a"], "lambda": row["b"], "log": HOSTILE_LEVELS[i % 5],
            "y": 10 + row["a"] + i % 5 + chance.gauss(0, 0.3)})
        for row in rows:
            del row["a"], row["b"]
        levels = json.dumps(HOSTILE_LEVELS, ensure_ascii=False)
        fits = self.imported('study: "x\\nimport os; os.system(\'touch hacked\')"\n' + self.STUDY.replace("a:", "if:")
                          .replace("b:", "lambda:").replace("factors: {", f"factors: {{log: {{levels: {levels}}}, ")
                          + 'model: linear\nresponses: {y: {unit: "s\\rtouch hacked", transform: log}}\n', rows)
        for language in self.languages():
            theirs = list(self.answer(language).fits["y"].values())
            for (estimate, error), row in zip(theirs, fits["y"]["coefficients"], strict=True):
                self.assertAlmostEqual(estimate, row["estimate"], delta=1e-9 * row["std_error"])
                self.assertAlmostEqual(error / row["std_error"], 1, delta=1e-9)
            if language == "python":
                self.assertEqual(list(self.answer(language).fits["y"]), [row["term"] for row in fits["y"]["coefficients"]])
        self.assertFalse((self.directory / "hacked").exists())

    def test_the_table(self):
        rows = self.rows_of_two_factors(lambda row, repeat, i, chance: {"y": row["a"] + i})
        self.imported(self.STUDY + "responses: {y: {}, twice: {formula: 2 * y}}\n", rows)
        table = self.doetune("export", "study", "--to", "csv", "-o", "-").stdout
        self.assertEqual(table.splitlines()[0], "run,standard_order,point_type,block,replicate,a,b,attempt,status,host,"
                         "gpu,start,duration_s,y,twice")
        self.assertEqual(len(table.splitlines()), 28)
        if has_module("pandas"):
            import io
            import pandas
            frame = pandas.read_csv(io.StringIO(table))
            self.assertEqual(list(frame["y"]), [row["y"] for row in rows])
            self.assertEqual(list(frame["twice"]), [2 * row["y"] for row in rows])
        if RSCRIPT:
            self.doetune("export", "study", "--to", "csv")
            read = subprocess.run([RSCRIPT, "-e", 'd <- read.csv("study/export.csv"); cat(sum(d$twice), is.numeric(d$a))'],
                                  cwd=self.directory, capture_output=True, text=True)
            self.assertEqual(read.stdout, f"{sum(2 * row['y'] for row in rows)} TRUE")

    def test_usage(self):
        rows = self.rows_of_two_factors(lambda row, repeat, i, chance: {"y": row["a"] + i})
        self.imported(self.STUDY + "responses: {y: {}}\n", rows)
        self.assertIn("csv, r, python", self.doetune("export", "study", expect=2).stderr)
        self.assertIn("did you mean 'python'?", self.doetune("export", "study", "--to", "pyton", expect=2).stderr)
        self.doetune("export", "study", "--to", "r", "-o", "no/such/folder/x.R", expect=4)
        self.assertIn("Next: python3 study/export.py (needs Debian's python3-pandas python3-statsmodels)",
                      self.doetune("export", "study", "--to", "python").stderr)
        document = json.loads(self.doetune("export", "study", "--to", "r", "--json").stdout)
        self.assertEqual((document["file"], document["runs"]), ("study/export.R", 27))


if __name__ == "__main__":
    if not RSCRIPT and not has_module("statsmodels"):
        print("skipped: neither Rscript (r-base-core) nor statsmodels (python3-statsmodels) is installed")
        sys.exit(77)
    for missing in ["Rscript"] * (not RSCRIPT) + ["statsmodels"] * (not has_module("statsmodels")):
        print(f"test_export (half of its cases) ... skipped 'no {missing}'")
    main()
