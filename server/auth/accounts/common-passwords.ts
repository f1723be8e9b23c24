/**
 * Common passwords that are long enough to pass the length rule, in the form in which they are compared: lower case,
 * letters and digits only. Written from general knowledge for this project, in the
 * manner of the lists of leaked passwords (whose bulk, at eight characters, is refused by length alone); it is not
 * taken from such a list and does not claim to be complete. The rules of `passwordFault` cover what can be described:
 * repeated pieces, keyboard runs, combinations of `commonPieces`, and what is little more than `commonWords`.
 */
const passwords = `
countersigndemoadmin countersigndemooperator countersigndemoviewer countersigndemoservicesecret
1q2w3e4r5t6y7u8i9o0p 1q2w3e4r5t6y7u8i 1q2w3e4r5t6y7u8 q1w2e3r4t5y6u7i8o9p0 q1w2e3r4t5y6u7i8 q1w2e3r4t5y6u7i
q2w3e4r5t6y7u8i9o0p a1b2c3d4e5f6g7h8i9j0 a1b2c3d4e5f6g7h8 a1b2c3d4e5f6g7h a1s2d3f4g5h6j7k8 a1s2d3f4g5h6j7k8l9
1a2b3c4d5e6f7g8h 1a2b3c4d5e6f7g8h9i0j 1a2s3d4f5g6h7j8k9l 1z2x3c4v5b6n7m8 z1x2c3v4b5n6m7 0p9o8i7u6y5t4r3e2w1q
1qaz2wsx3edc4rfv 1qaz2wsx3edc4rfv5tgb 1qaz2wsx3edc4rfv5tgb6yhn 1qazxsw23edcvfr4 1qazxsw23edcvfr45tgb
1qaz2wsx3edc4rfv5tgb6yhn7ujm zaq12wsxcde34rfv zaq12wsxcde34rfvbgt5 zaq1xsw2cde3vfr4 zaq1xsw2cde3vfr4bgt5
qazwsxedcrfvtgb qazwsxedcrfvtgbyhn qazwsxedcrfvtgbyhnujm qazwsxedcrfvtgbyhnujmikolp qazxswedcvfrtgb
qazxswedcvfrtgbnhyujm wsxedcrfvtgbyhn plokijuhygtfrdeswaq plmoknijbuhvygc 5tgb4rfv3edc2wsx1qaz
147258369147258 147258369963852741 159357258456 741852963741852 789456123789456 123654789123654 147852369147852
192837465192837 102938475610293847 246813579246813 135792468013579 314159265358979 3141592653589793
31415926535897932384 271828182845904 27182818284590452 161803398874989 141421356237309
112233445566778899 11223344556677889900 102030405060708090 998877665544332211 123321123321123 123123123456456
abcd1234abcd1234efgh abc123def456ghi789 abcdef1234567890 abcdefgh12345678 qwerty123456asdfgh qwertyuiop123456
qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qweasdzxcrtyfghvbn qweasdzxcqweasdzxc qweasdzxc123456 qwe123asd456zxc789
qwerasdfzxcv1234 asdfghjklqwertyuiop zxcvbnmasdfghjkl asdfqwerzxcvuiop azertyuiopqsdfghjklm qwertzuiopasdfghjkl
correcthorsebatterystaple batteryhorsestaplecorrect correctbatteryhorsestaple
thequickbrownfox thequickbrownfoxjumps thequickbrownfoxjumpsoverthelazydog quickbrownfoxjumps jumpsoverthelazydog
loremipsumdolor loremipsumdolorsit loremipsumdolorsitamet helloworldhelloworld helloworldprogram
thisismypassword thisisapassword thisismynewpassword thisisthepassword thisisastrongpassword thisisalongpassword
thisismysecretpassword thisisasecret thisisaverylongpassword thisisnotapassword thisisaverysecurepassword
mypasswordis mypasswordispassword thepasswordispassword passwordispassword mypasswordisstrong whatismypassword
iforgotmypassword iforgotthepassword ihatepasswords ihatethispassword idontknowmypassword idontknowthepassword
dontforgetpassword donotforgetthis nopasswordneeded nomorepasswords guessmypassword trytoguessthis youcantguessthis
youwillneverguess neverguessthis noonewillguess averylongpassword verylongpassword verysecurepassword verystrongpassword
asecurepassword astrongpassword supersecretpassword supersecurepassword supersecret topsecretpassword
mysecretpassword mysecurepassword mystrongpassword mysuperpassword mynewpassword myoldpassword mylongpassword
newpassword oldpassword changeme pleasechangeme pleasechangethis changethispassword changemenow changeitnow
changethepassword defaultpassword temporarypassword temppassword initialpassword standardpassword samplepassword
testpassword testingtesting testuserpassword demopassword examplepassword placeholderpassword userpassword
masterpassword adminpassword administrator administratorpassword administratoraccess rootpassword rootadmin
superadministrator supervisorpassword operatorpassword managerpassword backuppassword databasepassword
serverpassword companypassword officepassword workpassword homepassword wifipassword internetpassword
windowspassword googlepassword facebookpassword microsoftpassword emailpassword loginpassword accountpassword
letmeinplease pleaseletmein letmeinnow letmeinletmein opensesame opensesameopensesame opensesamepassword
accessgranted accessdenied trustnobody trustnoonebutme trustno1trustno1 nobodyknowsthis nobodyknowsmypassword
iloveyou iloveyouforever iloveyousomuch iloveyouverymuch iloveyoumorethananything iloveyoubaby iloveyoutothemoon
iloveyoutothemoonandback iwillalwaysloveyou alwaysandforever foreverandalways foreverandever youandmeforever
loveyouforever loveyoualways iloveyoumylove loveofmylife iloveyoumom iloveyoumum iloveyoudad ilovemyself
ilovemyfamily ilovemymother ilovemychildren ilovemykids ilovemywife ilovemyhusband ilovemyboyfriend ilovemygirlfriend
ilovemydog ilovemycat ilovechocolate ilovefootball ilovemusic ilovepizza ilovejesus ilovejesuschrist jesuslovesme
jesuschrist jesusismylord jesusismysavior jesusisthelord godisgreat godisgood godisgoodallthetime godislove
ingodwetrust thankyoujesus thankyoulord thelordismyshepherd praisethelord bismillah bismillahirrahmanirrahim
allahuakbar alhamdulillah subhanallah mashallah omnamahshivaya jaishreeram jaimatadi
maytheforcebewithyou theforceiswithyou iamyourfather lukeiamyourfather lukeskywalker obiwankenobi
starwarsstarwars lordoftherings thelordoftherings onetorulethemall youshallnotpass harrypotter
harrypotterharry expectopatronum wingardiumleviosa gameofthrones winteriscoming valarmorghulis spidermanspiderman
batmanbatman supermansuperman thedarkknight theamazingspiderman teenagemutantninjaturtles captainamerica
tobeornottobe tobeornottobethatisthequestion onceuponatime happilyeverafter happybirthday happybirthdaytoyou
merrychristmas merrychristmasandahappynewyear happynewyear happyhappyhappy haveaniceday welcomehome welcometotheworld
twinkletwinklelittlestar ringaroundtherosie maryhadalittlelamb supercalifragilisticexpialidocious
antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis abrakadabra abracadabraabracadabra
hakunamatata carpediemcarpediem livelaughlove liveyourlife lifeisbeautiful lifeisgood donttrustanyone nevergiveup
nevergonnagiveyouup nevergonnaletyoudown dontworrybehappy keepcalmandcarryon yeswecanyeswecan makeamericagreatagain
godblessamerica unitedstatesofamerica oncearangeralwaysaranger manchesterunited manchesterunitedfc manchestercity
liverpoolfc liverpoolfootballclub youllneverwalkalone chelseafootballclub arsenalfootballclub realmadridcf
fcbarcelona barcelonafc bayernmuenchen borussiadortmund dallascowboys pittsburghsteelers greenbaypackers
newyorkyankees bostonredsox losangeleslakers chicagobulls cristianoronaldo lionelmessi michaeljordan
californiadreaming newyorknewyork sanfrancisco losangeles computercomputer informationtechnology
internetexplorer microsoftwindows playstation minecraftminecraft callofduty grandtheftauto worldofwarcraft
sunshinesunshine princessprincess footballfootball baseballbaseball butterflybutterfly chocolatechocolate
elephantelephant strawberrystrawberry strawberryfields rainbowunicorn unicornrainbow cheesecakecheesecake
ichliebedich ichliebedichsosehr ichliebedichfuerimmer passwortpasswort meinpasswort meinpasswortist geheimespasswort
hallohallohallo schatzischatzi jetaimepourtoujours jetaimemonamour motdepasse motdepassemotdepasse monmotdepasse
azertyazertyazerty teamoparasiempre teamomuchomiamor tequieromucho micontrasena micontrasenaes contrasenasegura
amorpasionylocura teamodemais minhasenha senhasenhasenha eutevamotodavida tiamopersempre lamiapassword
wachtwoordwachtwoord mijnwachtwoord ikhouvanjou jagalskardig mittlosenord kochamcie mojehaslo
yatebyalyublyu moyparol parolparolparol wodeaini woaini5201314 woaini1314520 5201314woaini aishiteru
`

export const commonPasswords: ReadonlySet<string> = new Set(passwords.trim().split(/\s+/))

/** Words that add nothing to a password that consists of little else; names of the account are added to them. */
export const commonPieces: readonly string[] = `
countersign password passwort passwd contrasena motdepasse wachtwoord senha parol welcome willkommen bienvenue
admin administrator root superuser operator viewer manager user guest test demo example sample temp default
login logon signin access account secret secure security private changeme letmein opensesame qwerty qwertz azerty
asdfgh zxcvbn 1q2w3e4r 1qaz2wsx abc123 123456 iloveyou monkey dragon master shadow sunshine princess football
baseball superman batman trustno1 whatever starwars summer winter spring autumn january february march april june
july august september october november december monday tuesday wednesday thursday friday saturday sunday
company office server database orders order service production internet computer hello world please
`
  .trim()
  .split(/\s+/)

/**
 * Words that common passwords are built of: one or two of them and a number. First names, animals, sports, brands and the
 * like, from general knowledge. Each may be part of a good password; `worthOf` says what it adds.
 */
export const commonWords: readonly string[] = `
aaron abigail adam adrian alan albert alejandro alex alexander alexandra alexis alice alison allison amanda amber
amelia amy andrea andrew andy angel angela angelica angie anna anne anthony antonio april ariel arthur ashley austin
barbara benjamin beth bethany betty bianca billy bobby brandon brenda brian brittany brooke bruce bryan caitlin
cameron camila carlos carmen carol caroline carolina catherine charles charlie charlotte chelsea chester chris
christian christina christine christopher claire claudia connor courtney crystal cynthia daniel daniela danielle david
deborah dennis denise derek diana diego dominic donald dorothy douglas dylan eduardo edward elena elizabeth ellen
emily emma eric erica esther ethan eugene evelyn fernando florence frances francesca francis francisco frank franklin
fred frederick gabriel gabriela gary george gerald gloria grace gregory hannah harold harry hayden heather helen henry
howard hunter isaac isabel isabella jack jackson jacob jake james jamie jane janet jasmine jason jasper javier jeff
jeffrey jennifer jenny jeremy jerry jesse jessica jesus joanna joe joel john johnny jonathan jordan jorge jose joseph
joshua juan juanita judith julia julian julie justin karen kate katherine kathleen katie keith kelly kenneth kevin
kimberly kyle larry laura lauren lee leonard leonardo leslie linda lisa logan louis louise lucas lucy luis luke
madison manuel marco marcus margaret maria marie marina mario mark marlon marshall martha martin mary mateo matt
matthew maurice maxwell megan melanie melissa michael michel michelle miguel mike mohamed mohammed molly monica morgan
muhammad nancy natalia natalie natasha nathan nicholas nicole nicolas nina noah norman oliver olivia oscar pamela
patricia patrick paul paula pedro peter philip phillip phoebe rachel ralph ramona raymond rebecca ricardo richard
robert roberto robin rodrigo roger ronald rosemary russell ruth ryan sabrina samantha samuel sandra santiago sara
sarah scott sean sebastian sergio sharon shannon sheila simon sofia sonia sophia sophie spencer stanley stefan stella
stephanie stephen steve steven stewart stuart susan sylvia tamara tatiana taylor teresa theodore theresa thomas
tiffany timothy tina tommy tony tracy travis tyler valentina valeria vanessa veronica victor victoria vincent virginia
walter wanda wendy wesley william wilson xavier yolanda zachary alpha america american angels animal apple apples
arsenal australia babyboy babygirl babylove baby banana bandit barcelona baseball basketball beautiful beauty
bestfriend birthday black blessed blonde bluebird blue booboo boston boxing brasil brazil brother brothers brown
bubbles buddy bullshit butter butterfly butthead canada candy captain cards carebear casper celtic champion chance
cheese cherry chicago chicken chicks chocolate christ christmas clover coffee college computers cookie cookies cooper
cowboy cowboys creative cricket cupcake daddy daisy dakota dallas dancer dancing darling darkness daughter death
december destiny devil diamond diamonds dolphin dolphins donkey dragonball dragons dream dreams ducati eagle eagles
elephant england eternal facebook faith falcon family father ferrari fireball firebird firefly flower flowers football
forever france freak freedom friend friends fuckyou funny galaxy gandalf garfield gateway gemini genius germany ghost
ginger girl girls giants gizmo goddess golden golfer google gordon green guitar hacker hammer handsome happy harley
heart hearts heaven hello hellokitty hockey holiday homework honda honey horses hotmail house houston hummer iceman
india indian infinity instagram iphone ireland island italia italy jaguar jasmin jesuschrist joker junior justice
justme killer killers king kings kitten kitty knight ladybug legend liberty lightning linkedin lion lions liverpool
lollipop london loser love lovelove lovely lover lovers loveme loveyou lucky madonna madrid magic manchester maggie
marine marines marvel matrix maverick maximus mercedes mercury mermaid metallica mexico mickey midnight minecraft
mommy money monster moonlight morning mother motorola mountain mouse movie muffin music mustang myspace naruto natural
nature naughty newyork newcastle ninja nintendo nirvana nissan nothing ocean olympics orange packers panda panther
panthers paradise paris password peaches peanut penguin people pepper perfect phantom phoenix phone pickle pikachu
pineapple pirate pizza player please poison pokemon police pookie porsche portugal precious pretty prince princesa
prodigy pumpkin puppy purple queen rabbit raiders rainbow ranger rangers raven realmadrid rebel redsox redskins
remember revolution rockstar ronaldo rose roses rugby runner russia sailor samsung school scooby scooter scorpion
seven sexy shadows shopping silver simple single sister sisters skater skittles skywalker slayer slipknot smile smokey
smiley smooth snickers snoopy snowball snowman soccer softball soldier spain spanky sparky spiderman spirit spongebob
sports stalker star stars steelers stupid sugar sunflower sunny sunset superstar surfer swimming sweet sweetheart
sweetie sweetpea swordfish teacher teddy teddybear tennis texas thunder tiger tigers tigger tinkerbell titanic toyota
travel trouble truelove turtle tweety twitter unicorn united universe unknown vampire vegeta victory viking vision
volleyball walker warrior warriors water weed welcome whiskey white wicked wildcat windows winner winston wisdom
wizard wolf wolves wonder woody world wrestling yahoo yankees yellow yourmom youtube zombie zxcvb amor amore amigo
amigos bonita bebe carino corazon estrella familia feliz flor futbol gatita hermosa hermano libertad luna mariposa
mimamor mivida mundo musica reina secreto sol teamo tequiero vida bonjour chouchou coucou doudou famille lapin liebe
loulou maison merci mignon milan moncoeur soleil amour berlin blume computer engel fussball geheim hallo liebling maus
schalke schatz schnecke sommer sonne sonnenschein spatz stern frankfurt hamburg bayern ciao juventus napoli roma
tesoro ajax feyenoord hond konijn poes voetbal lozinka haslo polska kocham kochanie misiek privet solnce marseille
fuck fucking fucker fuckme fuckoff asshole bitch pussy shit standard secure
my our your the and for you me is am pass key code number secret word login user new old this that was not no yes with
from in on of to at it be so we he mom dad mum best good day man boy cat dog big hot red
`
  .trim()
  .split(/\s+/)
